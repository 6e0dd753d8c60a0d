/* C++ functions of the graph engine that clients link to: strings work, and models are refused. */
#include "../check.h"

struct shared { const void *object, *control; };
void _ZN2ge12AscendStringC1EPKc(struct shared *string, const char *text);
_Bool _ZNK2ge12AscendStringltERKS0_(const struct shared *string, const struct shared *other);
void _ZN2ge5GraphC1EPKc(struct shared *graph, const char *name);
uint32_t _ZN2ge22aclgrphBuildInitializeERSt3mapINS_12AscendStringES1_St4lessIS1_ESaISt4pairIKS1_S1_EEE(void *options);
uint32_t _ZN2ge16aclgrphSaveModelEPKcRKNS_15ModelBufferDataE(const char *file, const void *model);
void _ZN2ge20aclgrphBuildFinalizeEv(void);
#define NEW _ZN2ge12AscendStringC1EPKc
#define LESS _ZNK2ge12AscendStringltERKS0_

static void strings_have_an_order(void)
{
    char text[] = "soc";
    struct shared first, second, same, none;
    NEW(&first, text);
    text[0] = 'x';
    NEW(&second, text);
    NEW(&same, "soc");
    NEW(&none, NULL);
    TRUE(LESS(&first, &second) && !LESS(&second, &first));
    TRUE(!LESS(&first, &same) && !LESS(&same, &first));
    TRUE(LESS(&none, &first) && !LESS(&first, &none) && !LESS(&none, &none));
    TRUE(first.control == NULL && none.control == NULL);
}

int main(void)
{
    struct shared graph = {&graph, &graph};
    strings_have_an_order();
    _ZN2ge5GraphC1EPKc(&graph, "g");
    TRUE(graph.object == NULL && graph.control == NULL);
    TRUE(_ZN2ge22aclgrphBuildInitializeERSt3mapINS_12AscendStringES1_St4lessIS1_ESaISt4pairIKS1_S1_EEE(NULL) == UINT32_MAX);
    TRUE(strstr(aclGetRecentErrMsg(), "ge::aclgrphBuildInitialize") != NULL);
    TRUE(_ZN2ge16aclgrphSaveModelEPKcRKNS_15ModelBufferDataE("m", NULL) == UINT32_MAX);
    TRUE(strstr(aclGetRecentErrMsg(), "ge::aclgrphSaveModel") != NULL);
    _ZN2ge20aclgrphBuildFinalizeEv();
    return finish();
}
