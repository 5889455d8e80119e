/* The C interface of leobench: congestion controllers and QUIC stacks in shared libraries.
 *
 * A library exports `leobench_controller`, `leobench_stack`, or both. Each returns a table of functions, which has to
 * live as long as the library. leobench checks `version` and `size` of the table before it calls anything.
 *
 * Time is virtual, in nanoseconds since the start of the run, and never runs backwards. A library must read no clock
 * and take all randomness from its seed: a run then repeats bit for bit. Sizes are in bytes, rates in bits per second.
 * LEOBENCH_NONE stands for a number that is not there. Flags are 0 or 1.
 *
 * Functions return NULL on success, or a description of the failure, which ends the run. The text has to stay valid
 * until the next call. Nothing that a library is given is valid after the call. An object is used by one thread at a
 * time, different objects by several threads at once. A crash of the library ends the process. */

#ifndef LEOBENCH_H
#define LEOBENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEOBENCH_NONE UINT64_MAX

/* A parameter of the scenario's: a text as it is, any other value as JSON. */
struct leobench_parameter {
    const char *name;
    const char *value;
};

/* ---- Congestion controllers: congestion = { library = "./libmine.so" } ---- */

#define LEOBENCH_CONTROLLER_VERSION 1

/* The path that a controller is made for. */
struct leobench_controller_setup {
    uint64_t packet; /* bytes of a full packet */
    uint64_t seed;
    const struct leobench_parameter *parameters;
    size_t parameter_count;
};

/* The numbers that a controller sets. A call is given those of the last call; before the first, the window is 0. */
struct leobench_decision {
    uint64_t window;      /* bytes that may be in flight, at least two packets */
    uint64_t pacing_rate; /* LEOBENCH_NONE: derived from window and round-trip time */
    uint64_t ssthresh;    /* slow-start threshold, for results; or LEOBENCH_NONE */
};

/* An acknowledged packet. */
struct leobench_acked {
    uint64_t number;
    uint64_t size; /* bytes that counted towards the window */
    uint64_t sent;
    uint64_t ambiguous; /* whether it may be an earlier transmission that was acknowledged; TCP only */
};

/* An acknowledgement, after the losses that it reveals. */
struct leobench_ack {
    uint64_t now;
    const struct leobench_acked *packets; /* those acknowledged anew, by number */
    size_t packet_count;
    uint64_t prior_in_flight; /* bytes in flight before it, those that it shows to be lost excluded */
    uint64_t in_flight;       /* after it */
    uint64_t latest_rtt;
    uint64_t smoothed_rtt; /* RFC 9002, section 5.3 */
    uint64_t min_rtt;
    uint64_t delivery_rate; /* or LEOBENCH_NONE (draft-ietf-ccwg-bbr, section 4.1) */
    uint8_t app_limited;    /* whether the application left a gap, so that the rate is too low */
    uint8_t cwnd_limited;   /* whether the window limits the sender */
    uint8_t recovering;     /* whether TCP is in recovery */
};

/* Packets found lost together, or marked by ECN. */
struct leobench_loss {
    uint64_t now;
    uint64_t sent; /* when the latest of them was sent */
    uint64_t lost; /* bytes lost; 0 for marks */
    const uint64_t *packets; /* numbers of those lost */
    size_t packet_count;
    uint8_t persistent; /* persistent congestion (RFC 9002, section 7.6) */
    uint8_t answered;   /* whether TCP has reduced its window for it (RFC 6675, section 5) */
};

/* A forecast for the path, if the flow has forecasts. It may be wrong. */
struct leobench_forecast {
    uint64_t at;             /* the time that it is about */
    uint64_t base_rtt;       /* round-trip time without queues then, or LEOBENCH_NONE */
    uint64_t bottleneck;     /* rate of the narrowest link then, or LEOBENCH_NONE */
    uint64_t handover_from;  /* the next handover up to then, or LEOBENCH_NONE */
    uint64_t handover_until;
};

/* Functions of a controller of one path. Those marked optional may be NULL. */
struct leobench_controller {
    uint32_t version; /* LEOBENCH_CONTROLLER_VERSION */
    uint32_t size;    /* sizeof(struct leobench_controller) */
    const char *(*create)(const struct leobench_controller_setup *setup, void **controller,
                          struct leobench_decision *decision);
    void (*destroy)(void *controller);
    const char *(*on_ack)(void *controller, const struct leobench_ack *ack, struct leobench_decision *decision);
    const char *(*on_loss)(void *controller, const struct leobench_loss *loss, struct leobench_decision *decision);
    /* Optional; without it, marks count as losses. */
    const char *(*on_ecn)(void *controller, const struct leobench_loss *loss, struct leobench_decision *decision);
    /* Optional: the losses behind the last reduction were spurious. */
    const char *(*on_spurious_loss)(void *controller, struct leobench_decision *decision);
    /* Optional. */
    const char *(*on_forecast)(void *controller, const struct leobench_forecast *forecast,
                               struct leobench_decision *decision);
};

const struct leobench_controller *leobench_controller(void);

/* ---- QUIC stacks: transport = { kind = "quic", stack = { library = "./mine.so" } } ---- */

#define LEOBENCH_STACK_VERSION 1

/* An address and a port. */
struct leobench_address {
    uint8_t family; /* 4 or 6 */
    uint8_t ip[16]; /* in network byte order; IPv4 uses the first four bytes */
    uint16_t port;  /* in host byte order */
};

/* One end of a connection. Both ends of a flow are made by the same library with the same parameters. */
struct leobench_stack_setup {
    struct leobench_address local;
    struct leobench_address remote;
    uint64_t payload;         /* bytes of the largest UDP payload on the path; there is no smaller one */
    uint64_t send_streams;    /* unidirectional streams that this end opens */
    uint64_t receive_streams; /* unidirectional streams that the other end opens */
    uint8_t client;           /* whether this end opens the connection */
    uint8_t ecn;              /* whether packets may be sent as ECN-capable */
    uint8_t seed[32];
    const struct leobench_parameter *parameters;
    size_t parameter_count;
};

/* A UDP datagram. */
struct leobench_datagram {
    struct leobench_address source;
    struct leobench_address destination;
    uint8_t ecn; /* the ECN field (RFC 3168, section 5): 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE */
    const uint8_t *data;
    size_t length;
};

enum leobench_event_kind {
    LEOBENCH_NO_EVENT = 0,
    LEOBENCH_CONNECTED = 1, /* the handshake is done: this end may write */
    LEOBENCH_LOST = 2,      /* the connection is lost for good; `reason` may say why */
    LEOBENCH_WRITABLE = 3,  /* `stream` takes bytes again */
    LEOBENCH_READABLE = 4   /* `stream` has bytes, in order */
};

struct leobench_event {
    uint32_t kind;
    uint64_t stream;
    const char *reason;
};

/* The sender's state and totals. All are LEOBENCH_NONE beforehand, and may stay so. */
struct leobench_path {
    uint64_t window;    /* congestion window; without it, tables have no rows of the path */
    uint64_t in_flight;
    uint64_t ssthresh;
    uint64_t smoothed_rtt;
    uint64_t latest_rtt;
    uint64_t pacing_rate;
    uint64_t acked_bytes; /* from here on: totals since the start, which never fall */
    uint64_t lost_packets;
    uint64_t lost_bytes;
    uint64_t retransmitted_packets;
    uint64_t retransmitted_bytes; /* of the application */
    uint64_t congestion_events;
    uint64_t timeouts; /* probe timeouts */
    uint64_t spurious_losses;
    uint64_t undos; /* reductions taken back */
    uint64_t ecn_marks;
};

/* Functions of one end of a connection. Those marked optional may be NULL.
 *
 * Streams are unidirectional and numbered from 0 in the order in which their sender opens them; the stack opens a stream
 * when it is first written to, with those before it.
 *
 * At an instant, leobench calls `receive` for each datagram and `on_timeout` if the timer is due. Then it takes events
 * by `poll`, with `read` for streams that are readable, calls `write`, and takes datagrams by `transmit`, until the
 * stack has none of either. Last, it asks for `next_timeout`. */
struct leobench_stack {
    uint32_t version; /* LEOBENCH_STACK_VERSION */
    uint32_t size;    /* sizeof(struct leobench_stack) */
    const char *(*create)(const struct leobench_stack_setup *setup, void **stack);
    void (*destroy)(void *stack);
    /* The client opens the connection. */
    const char *(*connect)(void *stack, uint64_t now);
    const char *(*receive)(void *stack, uint64_t now, const struct leobench_datagram *datagram);
    /* The timer that `next_timeout` returned is due. */
    const char *(*on_timeout)(void *stack, uint64_t now);
    /* The time of the next call of `on_timeout`, after `now`; LEOBENCH_NONE if there is none. */
    uint64_t (*next_timeout)(void *stack, uint64_t now);
    /* Takes the next event. `event` has no event beforehand. */
    const char *(*poll)(void *stack, uint64_t now, struct leobench_event *event);
    /* Takes the next datagram. `datagram` has the host's address, that of the other end at the start, and no bytes
     * beforehand; without bytes, there is none to send. `data` stays the stack's, and has to be valid until the next call. */
    const char *(*transmit)(void *stack, uint64_t now, struct leobench_datagram *datagram);
    /* Writes to a stream, and sets how many bytes the stack took. If it took fewer, leobench waits for
     * LEOBENCH_WRITABLE. */
    const char *(*write)(void *stack, uint64_t now, uint64_t stream, const uint8_t *data, size_t length,
                         size_t *written);
    /* Nothing more is written to the stream. */
    const char *(*finish)(void *stack, uint64_t now, uint64_t stream);
    /* Reads bytes in order, and sets how many there were; 0 if there are none now. They have to be those written at the
     * other end: leobench compares them. */
    const char *(*read)(void *stack, uint64_t now, uint64_t stream, uint8_t *data, size_t capacity, size_t *length);
    /* Optional: the host has another address from now on, and packets from the old one do not arrive. The client migrates
     * (RFC 9000, section 9). Without it, handovers that change the address are refused. */
    const char *(*on_address)(void *stack, uint64_t now, const struct leobench_address *local);
    /* Optional: the state of the path. Without it, tables have none. */
    const char *(*path)(void *stack, uint64_t now, struct leobench_path *path);
};

const struct leobench_stack *leobench_stack(void);

#ifdef __cplusplus
}
#endif

#endif
