/* A soft arm under its weight, pulled by a tendon: equations of motion from Pliant, time steps in C.

   examples/plot_swing_in_c.py writes arm.c and arm.h, compiles them with this file and runs it:

       cc -O1 swing.c arm.c -lm -o swing && ./swing 1.0 1e-4 2.0

   prints t and the position of the tip, x y z, for 1 s in steps of 0.1 ms under a tension of 2 N.
   Classical Runge-Kutta steps: the longest stable one resolves the fastest vibration of the model. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm.h"

#define N (ARM_NQ + ARM_NV)

static void slope(const double *y, const double *u, double *dy) {
    arm_rates(y, y + ARM_NQ, dy);
    arm_accelerations(y, y + ARM_NQ, u, NULL, arm_parameters, dy + ARM_NQ, NULL, NULL);
}

static void step(double *y, const double *u, double h) {
    static const double reach[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double k[N] = {0.0}, at[N], sum[N] = {0.0};
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < N; i++) at[i] = y[i] + h * reach[stage] * k[i];
        slope(at, u, k);
        for (int i = 0; i < N; i++) sum[i] += weight[stage] * k[i];
    }
    for (int i = 0; i < N; i++) y[i] += h * sum[i] / 6.0;
}

int main(int count, char **given) {
    const double end = count > 1 ? atof(given[1]) : 1.0, h = count > 2 ? atof(given[2]) : 1e-4;
    const int steps = (int)(end / h + 0.5), every = steps / 100 ? steps / 100 : 1;
    double y[N] = {0.0}, u[ARM_NU], tip[16];
    memcpy(y, arm_rest, sizeof arm_rest[0] * ARM_NQ);
    memcpy(u, arm_inputs, sizeof arm_inputs[0] * ARM_NU);
    u[ARM_U_PULL] = count > 3 ? atof(given[3]) : 0.0;
    for (int k = 0; k <= steps; k++) {
        if (k % every == 0) {
            arm_pose_tip(y, arm_parameters, tip);
            printf("%.17g %.17g %.17g %.17g\n", k * h, tip[3], tip[7], tip[11]);
        }
        step(y, u, h);
    }
    return 0;
}
