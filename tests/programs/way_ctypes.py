# Python, which asks handles for functions by name.
import ctypes

library = ctypes.CDLL("libascendcl.so")
print("a launch below the interface:", hasattr(library, "rtFusionLaunch"))
print("a device count:", hasattr(library, "aclrtGetDeviceCount"))
stream, buffer, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t(4096)
codes = [
    library.aclInit(None),
    library.aclrtSetDevice(1),
    library.aclrtCreateStream(ctypes.byref(stream)),
    library.aclrtMalloc(ctypes.byref(buffer), size, 2),
]
for value in (1, 2, 3):
    count = ctypes.c_size_t(value * 100)
    codes.append(library.aclrtMemsetAsync(buffer, size, value, count, stream))
codes.append(library.aclrtSynchronizeStream(stream))
print("no place for a device:", library.aclrtGetDevice(None))
codes += [
    library.aclrtFree(buffer),
    library.aclrtDestroyStream(stream),
    library.aclrtResetDevice(1),
    library.aclFinalize(),
]
print(codes)
