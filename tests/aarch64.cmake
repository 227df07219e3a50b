# Toolchain for an aarch64 build on another Debian machine; its programs run under qemu-user.
# Packages: g++-aarch64-linux-gnu qemu-user-static, and with `dpkg --add-architecture arm64`
# libmpfr-dev:arm64 libgmp-dev:arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
# The libraries of the compiler are not where the emulated loader looks.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static-libstdc++ -static-libgcc")
# Only sdpa_hash and kernel_test are built; the configuration may find what other programs need for this machine.
set(ENV{PKG_CONFIG_LIBDIR}
    /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/lib/x86_64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
