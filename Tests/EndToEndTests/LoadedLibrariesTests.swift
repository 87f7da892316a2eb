#if os(Linux)
import Foundation
import Testing

/// Commands that neither decode nor show anything do not load FFmpeg, SDL2 and libass, which take most of the time and the
/// memory of a short command.
@Suite(.tags(.endToEnd), .timeLimit(.minutes(5))) struct LoadedLibrariesTests {
    private static let playbackLibraries = [
        "libavutil", "libavcodec", "libavformat", "libswresample", "libswscale", "libavfilter", "libSDL2", "libass",
    ]

    @Test(arguments: [["inspect", "-"], ["edit", "-", "--bandwidth", "0...1M"], ["validate", "-"]])
    func commandThatDecodesNothingLoadsNoPlaybackLibrary(_ arguments: [String]) async throws {
        let program = try RunningProgram(arguments, keepsInputOpen: true)
        // The command reads its input once its libraries are loaded.
        try await eventually("the program is loaded") {
            program.loadedLibraries.contains { $0.hasPrefix("libsqlite3") }
        }
        try await Task.sleep(for: .milliseconds(500))
        #expect(program.isRunning, "\(program.standardError)")
        let loaded = program.loadedLibraries
        #expect(
            !loaded.contains { name in
                Self.playbackLibraries.contains { name.hasPrefix($0 + ".") || name.hasPrefix($0 + "-") }
            }
        )
        program.send(SIGKILL)
        _ = try await program.finish(within: .seconds(60))
    }
}
#endif
