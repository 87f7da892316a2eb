import Foundation
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

/// Tests of the timelines of media files.
@Suite struct FilePlaybackTests {
    private func play(_ path: String) async throws -> PlaybackSnapshot {
        let engine = PlaybackEngine(
            source: ResourceAddress(filePath: path),
            loading: ResourceLoader(FileTransport()),
            pipeline: NonDecodingPipeline(time: SystemTimeSource()),
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

    /// Two seconds of silence, as 8,000 samples of one byte for each second.
    private var silence: [UInt8] {
        func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
        var bytes = Array("RIFF".utf8) + little(36 + 16_000) + Array("WAVEfmt ".utf8) + little(16)
        bytes += [1, 0, 1, 0] + little(8_000) + little(8_000) + [1, 0, 8, 0] + Array("data".utf8) + little(16_000)
        return bytes + Array(repeating: 128, count: 16_000)
    }

    @Test(arguments: ["", " a b.wav", "\"quoted\".wav", "{$name}.wav", "#a%20b?c.wav", "line\nbreak.wav", "ü.wav"])
    func anAudioFileHasItsDuration(name: String) async throws {
        let path = try temporary(silence, named: name)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let snapshot = try await play(path)
        #expect(snapshot.status == .readyToPlay && snapshot.playbackType == .file)
        #expect(snapshot.duration == MediaTime(seconds: 2))
    }

    @Test(arguments: ["", "some text that is no media at all", "<html><body>no</body></html>", "RIFF"])
    func theErrorForUnknownContentNamesPlaylistsAndFiles(text: String) async throws {
        let path = try temporary(Array(text.utf8))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let snapshot = try await play(path)
        #expect(snapshot.status == .failed)
        let error = try #require(snapshot.error)
        #expect(error.code == .notRecognized && error.number == -11_828)
        #expect(error.message.contains("neither a playlist") && error.message.contains("nor a media file"), "\(error)")
    }

    /// The description of an MP3 file declares 2,400 frames of 128 kbit/s, of which 1,000 are there.
    @Test func timelineOfAFileThatEndsEarlyEndsWithItsMedia() async throws {
        let frame = [0xFF, 0xFB, 0x90, 0x00] as [UInt8] + Array(repeating: 0, count: 413)
        var bytes = frame
        let fields = Array("Xing".utf8) + Self.big(3, 4) + Self.big(2_400, 4) + Self.big(2_401 * 417, 4)
        bytes.replaceSubrange(36..<36 + fields.count, with: fields)
        for _ in 0..<1_000 { bytes += frame }
        let path = try temporary(bytes + frame.prefix(100), named: ".mp3")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let snapshot = try await play(path)
        let duration = try #require(snapshot.duration)
        #expect(snapshot.status == .readyToPlay && abs(duration.seconds - 1_000 * 1_152 / 44_100) < 0.2, "\(duration)")
    }

    private static func big(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(UInt64(8 + content.count), 4) + Array(type.utf8) + content
    }

    /// A movie without tracks whose header declares a duration.
    private static func movie(duration: UInt64, timescale: UInt64) -> [UInt8] {
        let header = [1, 0, 0, 0] + big(0, 16) + big(timescale, 4) + big(duration, 8) + big(0, 80)
        return box("ftyp", Array("isom".utf8) + big(0, 4)) + box("moov", box("mvhd", header))
    }

    /// A Vorbis stream whose last page declares a granule position.
    private static func vorbis(granule: UInt64, rate: UInt64) -> [UInt8] {
        func page(_ granule: UInt64, _ content: [UInt8]) -> [UInt8] {
            Array("OggS".utf8) + [0, 0] + big(granule, 8).reversed() + big(7, 4) + big(0, 8) + [
                1, UInt8(content.count),
            ]
                + content
        }
        let head = [1] + Array("vorbis".utf8) + big(0, 4) + [2] + big(rate, 4).reversed() + big(0, 14)
        return page(0, head) + page(granule, Array(repeating: 0, count: 200))
    }

    /// A wave file that declares how many bytes a second has.
    private static func wave(bytesPerSecond: UInt64, rate: UInt64) -> [UInt8] {
        var bytes = Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0xFF] + Array("WAVEfmt ".utf8) + big(16, 4).reversed()
        bytes += [1, 0, 1, 0] + big(rate, 4).reversed() + big(bytesPerSecond, 4).reversed() + [1, 0, 8, 0]
        return bytes + Array("data".utf8) + [0xFF, 0xFF, 0xFF, 0xFF] + Array(repeating: 128, count: 4_000)
    }

    /// Media files by name, and whether their duration can be played.
    static let extremeFiles: [(name: String, bytes: [UInt8], isPlayable: Bool)] = {
        let numbers: [UInt64] = [
            1, 90_000, 1 << 31, 1 << 32, 1 << 53, 1 << 62, 1_000_000_000_000_000_000, (1 << 63) - 1,
        ]
        let files = numbers.flatMap { number in
            ([1, 90_000] as [UInt64]).flatMap { scale in
                let isPlayable = number / scale <= 1_000_000_000
                return [
                    ("movie \(number)/\(scale)", movie(duration: number, timescale: scale), isPlayable),
                    ("vorbis \(number)/\(scale)", vorbis(granule: number, rate: scale), isPlayable),
                ]
            }
        }
        return files + [("wave of a byte a second", wave(bytesPerSecond: 1, rate: 1), true)]
    }()

    @Test(arguments: extremeFiles.map(\.name))
    func aFileWithAnExtremeDurationIsPlayedOrRefused(name: String) async throws {
        let file = try #require(Self.extremeFiles.first { $0.name == name })
        let path = try temporary(file.bytes)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let snapshot = try await play(path)
        if file.isPlayable {
            #expect(snapshot.status == .readyToPlay && !snapshot.loadedTimeRanges.isEmpty)
        } else {
            #expect(snapshot.status == .failed && snapshot.error?.code == .invalidFile)
        }
    }

    private static let samples = ProcessInfo.processInfo.environment["MILLSTREAM_SAMPLES_DIRECTORY"]

    @Test(.enabled(if: samples != nil, "MILLSTREAM_SAMPLES_DIRECTORY names no samples"))
    func aSampleVideoFileHasItsDuration() async throws {
        let samples = try #require(Self.samples)
        let snapshot = try await play(samples + "/movie.mp4")
        #expect(snapshot.status == .readyToPlay)
        let duration = try #require(snapshot.duration)
        #expect(abs(duration.seconds - 30) < 0.1)
    }
}
