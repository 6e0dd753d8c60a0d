/* What the transformer works on, and what must come out. */
#ifndef TRANSFORMER_H
#define TRANSFORMER_H

#include "demo.h"

enum {
    LAYERS = 2,
    WEIGHTS = 5,
    /* Tokens of a sequence, and numbers of a token. */
    SIDE = 32,
    BYTES = SIDE * SIDE * (int)sizeof(float),
    /* A batch has more than the one sequence that is worked on. */
    BATCH = 16 * BYTES,
};

#define SCALE 0.17677669f

void transformer_weights(float *weights, int layer, int which);
void transformer_batch(float *batch, int step);

/* Whether a result is not what the host makes of the same step. */
int transformer_differs(const float *result, int step);

#endif
