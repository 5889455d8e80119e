/* No QUIC: each end is connected at once, and does one thing wrong after half a second, as the macros say. */
#include "leobench.h"
#include <stdlib.h>

#define LATE (now > 500000000)

struct end {
    uint64_t client, connected, told, window;
    uint8_t byte[65536];
};

static const char *create(const struct leobench_stack_setup *setup, void **stack) {
    if (setup->parameter_count > 0) return setup->parameters[0].value;
    struct end *end = calloc(1, sizeof(struct end));
    end->client = setup->client;
    end->window = 100000;
    *stack = end;
    return NULL;
}

static void destroy(void *stack) { free(stack); }

static const char *connect(void *stack, uint64_t now) {
    ((struct end *)stack)->connected = 1;
    return NULL;
}

static const char *receive(void *stack, uint64_t now, const struct leobench_datagram *datagram) { return NULL; }

static const char *on_timeout(void *stack, uint64_t now) {
#ifdef ON_TIMEOUT
    if (LATE) ON_TIMEOUT;
#endif
    return NULL;
}

static uint64_t next_timeout(void *stack, uint64_t now) {
#ifdef NEXT_TIMEOUT
    if (LATE) return NEXT_TIMEOUT;
#endif
    return now - now % 100000000 + 100000000;
}

static const char *poll(void *stack, uint64_t now, struct leobench_event *event) {
    struct end *end = stack;
    if (end->connected && !end->told) {
        end->told = 1;
        event->kind = LEOBENCH_CONNECTED;
        return NULL;
    }
#ifdef POLL
    if (LATE) { POLL; }
#endif
    return NULL;
}

static const char *transmit(void *stack, uint64_t now, struct leobench_datagram *datagram) {
#ifdef TRANSMIT
    struct end *end = stack;
    if (LATE && end->client) {
        datagram->data = end->byte;
        TRANSMIT;
    }
#endif
    return NULL;
}

static const char *writes(void *stack, uint64_t now, uint64_t stream, const uint8_t *data, size_t length,
                          size_t *written) {
#ifdef WRITE
    WRITE;
#endif
    return NULL;
}

static const char *finish(void *stack, uint64_t now, uint64_t stream) { return NULL; }

static const char *reads(void *stack, uint64_t now, uint64_t stream, uint8_t *data, size_t capacity,
                         size_t *length) {
#ifdef READ
    READ;
#endif
    return NULL;
}

static const char *path(void *stack, uint64_t now, struct leobench_path *path) {
    struct end *end = stack;
    path->window = end->window;
    path->lost_packets = LATE ? 1 : 2;
    return NULL;
}

const struct leobench_stack *leobench_stack(void) {
    static struct leobench_stack table = {
        .version = LEOBENCH_STACK_VERSION,
        .size = sizeof(struct leobench_stack),
        .create = create, .destroy = destroy, .connect = connect, .receive = receive, .on_timeout = on_timeout,
        .next_timeout = next_timeout, .poll = poll, .transmit = transmit, .write = writes, .finish = finish,
        .read = reads,
    };
#ifdef PATH
    table.path = path;
#else
    (void)path;
#endif
#ifdef TABLE
    TABLE;
#endif
    return &table;
}
