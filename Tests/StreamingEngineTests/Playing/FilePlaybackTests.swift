import Foundation
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

/// Media files are timelines too.
@Suite struct FilePlaybackTests {
    private func play(_ path: String) async throws -> PlaybackSnapshot {
        let engine = PlaybackEngine(
            source: ResourceAddress(filePath: path),
            loading: ResourceLoading(FileTransport()),
            pipeline: UndecodedPipeline(time: SystemTimeSource()),
            session: PlaybackSession(id: "test", start: .zero, startDate: .zero)
        ) { _ in }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run() }
            var waited = 0
            while engine.snapshot.loadedTimeRanges.isEmpty, engine.snapshot.status != .failed, waited < 2_000 {
                try await SystemTimeSource().sleep(for: .milliseconds(10))
                waited += 1
            }
            group.cancelAll()
            return engine.snapshot
        }
    }

    private func temporary(_ bytes: [UInt8], named name: String = "file") throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())\(name)").path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Two seconds of silence: 8,000 samples a second of one byte.
    private var silence: [UInt8] {
        func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
        var bytes = Array("RIFF".utf8) + little(36 + 16_000) + Array("WAVEfmt ".utf8) + little(16)
        bytes += [1, 0, 1, 0] + little(8_000) + little(8_000) + [1, 0, 8, 0] + Array("data".utf8) + little(16_000)
        return bytes + Array(repeating: 128, count: 16_000)
    }

    @Test(arguments: ["", " a b.wav", "\"quoted\".wav", "{$name}.wav", "#a%20b?c.wav", "line\nbreak.wav", "ü.wav"])
    func aSoundFileHasItsDuration(name: String) async throws {
        let path = try temporary(silence, named: name)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let snapshot = try await play(path)
        #expect(snapshot.status == .readyToPlay && snapshot.playbackType == .file)
        #expect(snapshot.duration == MediaTime(seconds: 2))
    }

    @Test(arguments: ["", "some text that is no media at all", "<html><body>no</body></html>", "RIFF"])
    func whatIsNeitherAPlaylistNorAFileSaysBoth(text: String) async throws {
        let path = try temporary(Array(text.utf8))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let snapshot = try await play(path)
        #expect(snapshot.status == .failed)
        #expect([.notRecognized, .damaged].contains(snapshot.error?.code))
    }

    private static let samples = ProcessInfo.processInfo.environment["MILLSTREAM_SAMPLES_DIRECTORY"]

    @Test(.enabled(if: samples != nil, "MILLSTREAM_SAMPLES_DIRECTORY names no samples"))
    func aFilmOfTheSamplesHasItsDuration() async throws {
        let samples = try #require(Self.samples)
        let snapshot = try await play(samples + "/movie.mp4")
        #expect(snapshot.status == .readyToPlay)
        let duration = try #require(snapshot.duration)
        #expect(abs(duration.seconds - 30) < 0.1)
    }
}
