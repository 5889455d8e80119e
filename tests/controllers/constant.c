/* A congestion controller with a constant window. CALL is what an acknowledgement after half a second does, and
 * TABLE a change of the table of functions. */
#include "leobench.h"

static const char *create(const struct leobench_controller_setup *setup, void **controller,
                          struct leobench_decision *decision) {
    if (setup->parameter_count > 0) return setup->parameters[0].name;
    decision->window = 20 * setup->packet;
    return NULL;
}

static void destroy(void *controller) {}

static const char *on_ack(void *controller, const struct leobench_ack *ack,
                          struct leobench_decision *decision) {
    if (ack->now > 500000000) {
        CALL;
    }
    return NULL;
}

static const char *on_loss(void *controller, const struct leobench_loss *loss,
                           struct leobench_decision *decision) {
    return NULL;
}

const struct leobench_controller *leobench_controller(void) {
    static struct leobench_controller table = {
        .version = LEOBENCH_CONTROLLER_VERSION,
        .size = sizeof(struct leobench_controller),
        .create = create, .destroy = destroy, .on_ack = on_ack, .on_loss = on_loss,
    };
    TABLE;
    return &table;
}
