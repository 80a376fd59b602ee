// Linear learning with a trace and one step size, as one would write it in C.
#include <stdint.h>

void learn(long steps, long n, const double *rows, const int32_t *at, const int32_t *following,
           const double *reward, const double *discount, const double *decay, const double *gain,
           double alpha, double *restrict w, double *restrict e) {
    for (long t = 0; t < steps; t++) {
        const double *x = rows + (-1 - at[t]) * n, *next = rows + (-1 - following[t]) * n;
        double v = 0, v_next = 0;
        for (long i = 0; i < n; i++) {
            v += w[i] * x[i];
            v_next += w[i] * next[i];
        }
        double step = alpha * (reward[t] + discount[t] * v_next - v);
        for (long i = 0; i < n; i++) {
            e[i] = decay[t] * e[i] + gain[t] * x[i];
            w[i] += step * e[i];
        }
    }
}
