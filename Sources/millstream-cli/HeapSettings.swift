import Foundation

/// The settings of the C library's memory allocator that make the program return memory to the system.
enum HeapSettings {
    /// The parameters of `mallopt` in the header `malloc.h` of the GNU C Library, which Swift does not import.
    private enum Parameter: CInt {
        case mappingThreshold = -3
        case arenaCount = -8
    }

    /// The size in bytes from which each allocation has its own memory mapping, which is removed with the allocation.
    ///
    /// By default, the threshold grows with the largest allocation that was freed, up to 32 MiB, so that playlists and database
    /// values of some megabytes leave gaps between small allocations.
    private static let mappingThreshold: CInt = 1 << 20

    /// Sets the parameters, before another thread allocates memory.
    ///
    /// By default, there are eight arenas for each processor, and each thread allocates from one of them. An arena does
    /// not use memory that was freed in another arena.
    static func apply() {
        #if os(Linux)
        guard let function = dlsym(nil, "mallopt") else { return }
        let setOption = unsafeBitCast(function, to: (@convention(c) (CInt, CInt) -> CInt).self)
        _ = setOption(Parameter.mappingThreshold.rawValue, mappingThreshold)
        let processors = ProcessInfo.processInfo.activeProcessorCount
        _ = setOption(Parameter.arenaCount.rawValue, CInt(clamping: max(processors, 2)))
        #endif
    }
}
