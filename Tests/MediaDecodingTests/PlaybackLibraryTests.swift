#if canImport(CPlaybackLibraries)
import CPlaybackLibraries
import Testing

/// Tests the functions of FFmpeg, SDL2 and libass that are looked up at their first call.
@Suite struct PlaybackLibraryTests {
    @Test func everyFunctionIsAvailable() {
        let count = millstream_function_count()
        #expect(count > 100)
        for index in 0..<count {
            let error = unsafe millstream_function_error(index).map { unsafe String(cString: $0) }
            #expect(error == nil, "\(unsafe String(cString: millstream_function_name(index)))")
        }
    }

    @Test func noFunctionIsListedTwice() {
        let names = (0..<millstream_function_count()).map { unsafe String(cString: millstream_function_name($0)) }
        #expect(Set(names).count == names.count)
    }
}
#endif
