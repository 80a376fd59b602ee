// The backward view of a network with one step size, as one would write it in C: an input with a
// single 1 is an index, and nothing else is skipped. Row i of `hidden` belongs to input i.
#include <stdint.h>
#include <string.h>

static double value(long n, long units, const double *hidden, const double *hidden_bias,
                    const double *out, double bias, const double *rows, int32_t code,
                    double *restrict a) {
    for (long u = 0; u < units; u++) a[u] = hidden_bias[u];
    if (code >= 0)
        for (long u = 0; u < units; u++) a[u] += hidden[code * units + u];
    else
        for (long i = 0; i < n; i++)
            for (long u = 0; u < units; u++) a[u] += rows[(-1 - code) * n + i] * hidden[i * units + u];
    double v = bias;
    for (long u = 0; u < units; u++) v += a[u] > 0 ? out[u] * a[u] : 0;
    return v;
}

void learn(long steps, long n, const double *rows, const int32_t *at, const int32_t *following,
           const double *reward, const double *discount, const double *decay, const double *gain,
           double alpha, long units, double *restrict hidden, double *restrict hidden_bias,
           double *restrict out, double *restrict bias, double *restrict z) {
    double z_bias[units], z_out[units], z_last = 0, a[units], next[units], g[units];
    memset(z, 0, sizeof(double) * n * units);
    memset(z_bias, 0, sizeof z_bias);
    memset(z_out, 0, sizeof z_out);
    for (long t = 0; t < steps; t++) {
        double d = decay[t], k = gain[t];
        double v = value(n, units, hidden, hidden_bias, out, *bias, rows, at[t], a);
        double v_next = value(n, units, hidden, hidden_bias, out, *bias, rows, following[t], next);
        double step = alpha * (reward[t] + discount[t] * v_next - v);
        for (long u = 0; u < units; u++) g[u] = a[u] > 0 ? k * out[u] : 0;
        if (at[t] >= 0) {
            for (long i = 0; i < n * units; i++) z[i] *= d;
            for (long u = 0; u < units; u++) z[at[t] * units + u] += g[u];
            for (long i = 0; i < n * units; i++) hidden[i] += step * z[i];
        } else {
            const double *x = rows + (-1 - at[t]) * n;
            for (long i = 0; i < n; i++)
                for (long u = 0; u < units; u++) {
                    z[i * units + u] = d * z[i * units + u] + x[i] * g[u];
                    hidden[i * units + u] += step * z[i * units + u];
                }
        }
        for (long u = 0; u < units; u++) {
            z_bias[u] = d * z_bias[u] + g[u];
            z_out[u] = d * z_out[u] + (a[u] > 0 ? k * a[u] : 0);
            hidden_bias[u] += step * z_bias[u];
            out[u] += step * z_out[u];
        }
        z_last = d * z_last + k;
        *bias += step * z_last;
    }
}
