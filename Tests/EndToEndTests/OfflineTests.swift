import Foundation
import TestSamples
import Testing

/// Tests that downloaded assets are played without a network, by a program that the kernel ends when it creates a socket.
@Suite(
    .tags(.endToEnd),
    .timeLimit(.minutes(10)),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples"),
    .enabled("this system has no seccomp filters") { try await SocketDenial.isSupported() }
)
struct OfflineTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("offline-\(UUID())")

    /// Runs the program without sockets.
    private func runOffline(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let program = try RunningProgram([RunningProgram.executable.path] + arguments, of: SocketDenial.executable)
        let status = try await program.finish(within: .seconds(300))
        return (status, program.standardOutput, program.standardError)
    }

    @Test(arguments: ["ts", "fmp4", "aes", "byterange", "dash-timeline"])
    func downloadedStreamIsPlayedWithoutSockets(stream: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let name = stream.hasPrefix("dash") ? "manifest.mpd" : "multivariant.m3u8"
        let download = try RunningProgram([
            "download", origin.address("\(stream)/\(name)"), "--variants", "lowest", "--audio", "all", "--quiet",
            "--library", folder.path,
        ])
        #expect(try await download.finish(within: .seconds(300)) == 0, "\(download.standardError)")
        await origin.stop()
        let list = try await runOffline(["library", "list", "--json", "--library", folder.path])
        let assets = try #require(JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
        let asset = try #require(assets.first)
        #expect(asset["playableOffline"] as? Bool == true)
        let path = folder.appendingPathComponent(try #require(asset["path"] as? String)).path
        let languages = try #require(asset["subtitles"] as? [String])
        let subtitles = languages.first.map { ["--subtitles", $0] } ?? []
        let played = try await runOffline(["play", path, "--no-decode", "--speed", "max"] + subtitles)
        #expect(played.status == 0 && played.output.contains("Watched: "), "\(played)")
        // The last seconds are decoded as well, at the speed of the clock.
        let start = String(try #require(asset["duration"] as? Double) - 3)
        let decoded = try await runOffline(["play", path, "--headless", "--start", start] + subtitles)
        #expect(decoded.status == 0, "\(decoded)")
    }

    @Test func socketsAreDenied() async throws {
        let request = try await runOffline(["inspect", "http://127.0.0.1:1/a.m3u8", "--retries", "0"])
        #expect(request.status == -SIGSYS, "\(request)")
    }
}

/// The program that runs another one without sockets.
private enum SocketDenial {
    static let executable = RunningProgram.executable.deletingLastPathComponent()
        .appendingPathComponent("socket-denial")

    static func isSupported() async throws -> Bool {
        try await RunningProgram(["true"], of: executable).finish() == 0
    }
}
