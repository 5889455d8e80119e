/* A congestion controller with a constant window that writes all that it is told to a file. */
#include "leobench.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *create(const struct leobench_controller_setup *setup, void **controller,
                          struct leobench_decision *decision) {
    const char *file = NULL;
    for (size_t i = 0; i < setup->parameter_count; i++) {
        const struct leobench_parameter *parameter = &setup->parameters[i];
        if (strcmp(parameter->name, "file") == 0) file = parameter->value;
        if (strcmp(parameter->name, "packets") == 0) decision->window = setup->packet * (uint64_t)atoi(parameter->value);
    }
    *controller = fopen(file, "a");
    if (*controller != NULL) setvbuf(*controller, NULL, _IOLBF, 4096);
    return *controller == NULL ? "no file" : NULL;
}

static void destroy(void *controller) { fclose(controller); }

static const char *on_ack(void *controller, const struct leobench_ack *a,
                          struct leobench_decision *decision) {
    fprintf(controller, "ack %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %d %d",
            a->now, a->prior_in_flight, a->in_flight, a->latest_rtt, a->smoothed_rtt, a->min_rtt,
            a->delivery_rate == LEOBENCH_NONE ? 0 : a->delivery_rate, a->app_limited, a->cwnd_limited, a->recovering);
    for (size_t i = 0; i < a->packet_count; i++) {
        const struct leobench_acked *p = &a->packets[i];
        fprintf(controller, " %" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64, p->number, p->size, p->sent, p->ambiguous);
    }
    fprintf(controller, "\n");
    return NULL;
}

static const char *note(const char *kind, FILE *file, const struct leobench_loss *loss) {
    fprintf(file, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %d", kind, loss->now, loss->sent, loss->lost,
            loss->persistent, loss->answered);
    for (size_t i = 0; i < loss->packet_count; i++) fprintf(file, " %" PRIu64, loss->packets[i]);
    fprintf(file, "\n");
    return NULL;
}

static const char *on_loss(void *controller, const struct leobench_loss *loss,
                           struct leobench_decision *decision) {
    return note("loss", controller, loss);
}

static const char *on_ecn(void *controller, const struct leobench_loss *loss,
                          struct leobench_decision *decision) {
    return note("ecn", controller, loss);
}

static const char *on_forecast(void *controller, const struct leobench_forecast *f,
                               struct leobench_decision *decision) {
    fprintf(controller, "forecast %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", f->at,
            f->base_rtt == LEOBENCH_NONE ? 0 : f->base_rtt, f->bottleneck == LEOBENCH_NONE ? 0 : f->bottleneck);
    return NULL;
}

const struct leobench_controller *leobench_controller(void) {
    static const struct leobench_controller table = {
        LEOBENCH_CONTROLLER_VERSION, sizeof(struct leobench_controller),
        create, destroy, on_ack, on_loss, on_ecn, NULL, on_forecast,
    };
    return &table;
}
