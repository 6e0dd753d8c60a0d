# Runs a command where the kernel starts aarch64 programs in an emulator: sh within.sh FOLDER COMMAND...
# FOLDER holds `emulator` and compilers for aarch64 under the usual names. The caller has made a user
# and a mount namespace, so nothing outside changes (Linux 6.7 and later).
set -e
folder=$1
shift
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
echo ":ascend-trace-aarch64:M::$magic:$mask:$folder/emulator:PF" >/proc/sys/fs/binfmt_misc/register
PATH=$folder:$PATH exec "$@"
