// A double of libnvidia-ml.so.1 for nvidia-ml-py's own calls: answers of an A100 as NVML documents them, by NVML_CASE.
// Codes: 0 success, 3 not supported, 4 no permission, 6 not found, 7 insufficient size, 18 driver and library differ.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { unsigned pid; unsigned long long used; unsigned instance, compute; } Process;
typedef struct { unsigned field, scope; int64_t time, latency; unsigned type, result; unsigned long long value; } Field;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned gpu, memory; } Utilization;

static int is(const char *name) { const char *asked = getenv("NVML_CASE"); return asked && !strcmp(asked, name); }

/* What a MIG instance does not tell, and what may not be asked of the card from a container that has a part of it. */
static int refused(void) { return is("mig") ? 3 : is("part_of_a_card") ? 4 : 0; }

int nvmlInitWithFlags(unsigned flags) { return is("other_library") ? 18 : 0; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int code) { return "an error"; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **gpu) { *gpu = (void *)1; return index ? 2 : 0; }
int nvmlDeviceGetHandleByUUID(const char *uuid, void **gpu) { *gpu = (void *)1; return 0; }
int nvmlDeviceGetName(void *gpu, char *name, unsigned size) {
    strncpy(name, is("mig") ? "NVIDIA A100-SXM4-40GB MIG 1g.5gb" : "NVIDIA A100-SXM4-40GB", size);
    return 0;
}
int nvmlDeviceGetUUID(void *gpu, char *uuid, unsigned size) { strncpy(uuid, "GPU-4404041a", size); return 0; }
int nvmlDeviceGetMemoryInfo(void *gpu, Memory *memory) {
    memory->total = is("mig") ? 4ull << 30 : 40ull << 30;
    memory->used = 1ull << 30;
    return is("mig") ? 0 : refused();
}
int nvmlDeviceGetUtilizationRates(void *gpu, Utilization *rates) { rates->gpu = 98; return refused(); }
int nvmlDeviceGetPowerUsage(void *gpu, unsigned *milliwatts) { *milliwatts = 400000; return refused(); }
int nvmlDeviceGetClockInfo(void *gpu, int which, unsigned *clock) { *clock = which == 1 ? 1095 : 1215; return refused(); }
int nvmlDeviceGetPcieThroughput(void *gpu, int side, unsigned *rate) { *rate = 1000; return refused(); }
int nvmlDeviceGetCurrentClocksEventReasons(void *gpu, unsigned long long *reasons) {
    *reasons = is("hot") ? 0x8 | 0x40 : is("newer_driver") ? 0x4 | 1ull << 40 : 0x4;
    return refused();
}
int nvmlDeviceGetFieldValues(void *gpu, int count, Field *fields) {
    for (int each = 0; each < count; each++) {
        fields[each].type = is("newer_driver") ? 90 : 3;
        fields[each].result = refused();
        fields[each].value = 7;
    }
    return 0;
}

static int processes(unsigned *count, Process *list) {
    /* The run's own process comes after the other one; each reading asks for the size first, without a list. */
    static unsigned readings;
    readings += list == NULL;
    unsigned held = is("second_process") ? 1 + (readings > 1) : 0, room = *count;
    *count = held;
    if (held == 0) return 0;
    if (room < held) return 7;
    list[0] = (Process){getppid(), 1ull << 28, -1, -1};
    if (held > 1) list[1] = (Process){getpid(), 1ull << 29, -1, -1};
    return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *gpu, unsigned *count, Process *list) {
    return is("newer_driver") ? 99 : processes(count, list);
}
int nvmlDeviceGetComputeRunningProcesses_v2(void *gpu, unsigned *count, Process *list) { return processes(count, list); }
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *gpu, unsigned *count, Process *list) { *count = 0; return 0; }
