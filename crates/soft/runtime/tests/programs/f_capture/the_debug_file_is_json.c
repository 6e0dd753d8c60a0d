/* Chrome trace events stream by stream, the same each time they are written. */
#include "../capture.h"

static long read_all(const char *path, char *text, long room)
{
    FILE *file = fopen(path, "r");
    long length = file ? (long)fread(text, 1, (size_t)room - 1, file) : 0;
    text[length] = 0;
    if (file) {
        fclose(file);
    }
    return length;
}

int main(void)
{
    char path[] = "/tmp/softacl-json-XXXXXX", first[4000], second[4000];
    start();
    aclrtStream s1 = new_stream(), s2 = new_stream();
    aclrtEvent fork = new_event(), join = new_event();
    aclrtFuncHandle set = kernel(load_kernels(), "set");
    uint64_t *word = new_word(0);
    TRUE(mkstemp(path) >= 0);
    SAY(aclmdlRICaptureBegin(s1, GLOBAL), 0);
    wait_for(s1, fork, s2);
    SAY(launch(set, word, 1, s2), 0);
    wait_for(s2, join, s1);
    aclmdlRI model = end_well(s1, 5);
    OK(aclmdlRIDebugJsonPrint(model, path, 0));
    TRUE(read_all(path, first, sizeof first) > 100);
    char head[200];
    snprintf(head, sizeof head, "[\n{\"name\":\"EVENT_WAIT_0\",\"pid\":\"%d aclGraph\",\"tid\":\"stream", getpid());
    TRUE(strncmp(first, head, strlen(head)) == 0);
    TRUE(strstr(first, "\"ts\":0,\"dur\":14.5,\"ph\":\"X\",\"args\":{\"Model Id\":") != NULL);
    TRUE(strstr(first, "\"name\":\"set\"") && strstr(first, "\"Task Type\":\"KERNEL\"}},\n"));
    TRUE(strstr(first, "\"name\":\"EVENT_RECORD_1\"") && strstr(first, "\"name\":\"EVENT_WAIT_1\""));
    TRUE(strstr(first, "\"name\":\"EVENT_RESET_0\"") && strstr(first, "\"name\":\"EVENT_RESET_1\""));
    /* The first object is of the stream that joined; its record comes third, behind the kernel. */
    const char *record = strstr(first, "EVENT_RECORD_1");
    TRUE(record && strstr(record, "\"ts\":30,") && strstr(first, "EVENT_RECORD_0") > record);
    TRUE(strcmp(first + strlen(first) - 4, "}}\n]") == 0);
    OK(aclmdlRIDebugJsonPrint(model, path, 0));
    read_all(path, second, sizeof second);
    EXPECT(strcmp(first, second), 0);
    OK(aclmdlRIDebugJsonPrint(model, path, 1));
    read_all(path, second, sizeof second);
    TRUE(strstr(second, "\"Event\":") && !strstr(first, "\"Event\":"));
    SAY(aclmdlRIDebugJsonPrint(model, path, 2), 0);
    unlink(path);
    SAY(aclmdlRIDebugJsonPrint(model, NULL, 0), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRIDebugJsonPrint(NULL, "/tmp/x", 0), ACL_ERROR_INVALID_PARAM);
    SAY(aclmdlRIDebugJsonPrint(model, "/no/such/directory/graph.json", 0), ACL_ERROR_RT_PARAM_INVALID);
    SAY(aclmdlRIDebugPrint(model), 0);
    return finish();
}
