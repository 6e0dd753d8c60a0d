/* The transformer once more, on the host: what the device must come to. */
#include "transformer.h"

#include <math.h>
#include <string.h>

typedef float square[SIDE][SIDE];

/* Small numbers that look random and are the same in every run. */
static float number(unsigned seed) {
    seed = (seed ^ (seed >> 15)) * 0x2c1b3c6du;
    seed = (seed ^ (seed >> 12)) * 0x297a2d39u;
    return (float)((seed >> 20) & 0xff) / 1024.0f - 0.125f;
}

void transformer_weights(float *weights, int layer, int which) {
    for (int i = 0; i < SIDE * SIDE; i++) {
        weights[i] = number((unsigned)(i + SIDE * SIDE * (which + WEIGHTS * layer)));
    }
}

void transformer_batch(float *batch, int step) {
    for (int i = 0; i < BATCH / (int)sizeof(float); i++) {
        batch[i] = number(0x40000000u + (unsigned)(i % (SIDE * SIDE)) * 7u + (unsigned)step);
    }
}

static void product(square out, square left, square right) {
    for (int row = 0; row < SIDE; row++) {
        for (int column = 0; column < SIDE; column++) {
            float sum = 0;
            for (int i = 0; i < SIDE; i++) {
                sum += left[row][i] * right[i][column];
            }
            out[row][column] = sum;
        }
    }
}

static void softmax(square scores) {
    for (int row = 0; row < SIDE; row++) {
        float sum = 0;
        for (int i = 0; i < SIDE; i++) {
            scores[row][i] = expf(scores[row][i] * SCALE);
            sum += scores[row][i];
        }
        for (int i = 0; i < SIDE; i++) {
            scores[row][i] /= sum;
        }
    }
}

static void add(square to, square what) {
    for (int row = 0; row < SIDE; row++) {
        for (int column = 0; column < SIDE; column++) {
            to[row][column] += what[row][column];
        }
    }
}

static void relu(square of) {
    for (int row = 0; row < SIDE; row++) {
        for (int column = 0; column < SIDE; column++) {
            of[row][column] = fmaxf(of[row][column], 0);
        }
    }
}

static void layer(square tokens, int number_of_layer) {
    square weights[WEIGHTS], query, key, turned, value, scores, seen, wide;
    for (int i = 0; i < WEIGHTS; i++) {
        transformer_weights(weights[i][0], number_of_layer, i);
    }
    product(query, tokens, weights[0]);
    product(key, tokens, weights[1]);
    product(value, tokens, weights[2]);
    for (int row = 0; row < SIDE; row++) {
        for (int column = 0; column < SIDE; column++) {
            turned[row][column] = key[column][row];
        }
    }
    product(scores, query, turned);
    softmax(scores);
    product(seen, scores, value);
    add(tokens, seen);
    product(wide, tokens, weights[3]);
    relu(wide);
    product(seen, wide, weights[4]);
    add(tokens, seen);
}

int transformer_differs(const float *result, int step) {
    float batch[BATCH / sizeof(float)];
    square tokens;
    transformer_batch(batch, step);
    memcpy(tokens, batch, sizeof tokens);
    for (int i = 0; i < LAYERS; i++) {
        layer(tokens, i);
    }
    for (int i = 0; i < SIDE * SIDE; i++) {
        float expected = tokens[i / SIDE][i % SIDE];
        if (!(fabsf(result[i] - expected) <= 1e-4f * (1 + fabsf(expected)))) {
            return 1;
        }
    }
    return 0;
}
