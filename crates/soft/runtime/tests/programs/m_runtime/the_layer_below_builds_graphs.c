/* Graphs that are built and run on the layer below are those of acl. */
#include "../check.h"

typedef int rt;
rt rtInit(void);
rt rtDeinit(void);
rt rtSetDevice(int32_t id);
rt rtDeviceReset(int32_t id);
rt rtStreamCreateWithFlags(void **stream, int32_t priority, uint32_t flags);
rt rtStreamDestroy(void *stream);
rt rtStreamSynchronize(void *stream);
rt rtMalloc(void **address, uint64_t size, uint32_t kind, uint16_t module);
rt rtFree(void *address);
rt rtMemsetAsync(void *address, uint64_t room, uint32_t value, uint64_t size, void *stream);
rt rtModelCreate(void **model, uint32_t flags);
rt rtModelBindStream(void *model, void *stream, uint32_t flags);
rt rtModelUnbindStream(void *model, void *stream);
rt rtEndGraph(void *model, void *stream);
rt rtModelLoadComplete(void *model);
rt rtModelExecute(void *model, void *stream, uint32_t flags);
rt rtModelExecuteSync(void *model, void *stream, uint32_t flags, int32_t timeout);
rt rtModelGetId(void *model, uint32_t *id);
rt rtSetModelName(void *model, const char *name);
rt rtModelDestroy(void *model);

int main(void)
{
    void *model, *part, *stream;
    int32_t *word;
    uint32_t id = 99, own = 98;
    char name[16] = "";
    OK(rtInit());
    OK(rtSetDevice(0));
    OK(rtMalloc((void **)&word, 64, 0, 0));
    *word = 0;
    OK(rtModelCreate(&model, 0));
    OK(rtStreamCreateWithFlags(&part, 0, ACL_STREAM_PERSISTENT));
    OK(rtStreamCreateWithFlags(&stream, 0, 0));
    OK(rtModelBindStream(model, part, ACL_MODEL_STREAM_FLAG_HEAD));
    OK(rtMemsetAsync(word, 64, 1, 64, part));
    OK(rtEndGraph(model, part));
    OK(rtModelLoadComplete(model));
    EXPECT(*word, 0);
    OK(rtModelExecute(model, stream, 0));
    OK(rtStreamSynchronize(stream));
    EXPECT(*word, 0x01010101);
    *word = 0;
    OK(rtModelExecuteSync(model, stream, 0, -1));
    EXPECT(*word, 0x01010101);
    OK(rtModelGetId(model, &id));
    OK(aclmdlRIGetId(model, &own));
    EXPECT(id, own);
    OK(rtSetModelName(model, "below"));
    OK(aclmdlRIGetName(model, sizeof(name), name));
    EXPECT(strcmp(name, "below"), 0);
    OK(rtModelUnbindStream(model, part));
    OK(rtModelDestroy(model));
    OK(rtStreamDestroy(part));
    OK(rtStreamDestroy(stream));
    OK(rtFree(word));
    OK(rtDeviceReset(0));
    OK(rtDeinit());
    return finish();
}
