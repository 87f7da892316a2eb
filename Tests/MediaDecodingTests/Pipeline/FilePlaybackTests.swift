import Foundation
import MediaTiming
import PlaybackReporting
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests that media files play like streams, in segments of an index.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct DecodedFileTests {
    private func played(_ name: String, _ bytes: [UInt8]? = nil) async throws -> DecodedStream {
        let stream = try DecodedStream(
            name,
            in: try #require(SampleStreams.directory),
            replacing: bytes.map { [name: $0] } ?? [:]
        )
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        return stream
    }

    private func frames(_ stream: DecodedStream) -> [Int] { stream.shown.all.map { $0.reading?.frame ?? -1 } }

    @Test func progressiveMovieIsPlayed() async throws {
        let stream = try await played("movie.mp4")
        #expect(frames(stream) == Array(0..<900))
        for onset in BeepFinder.onsets(stream.audio.all).dropFirst() {
            #expect(abs(onset - onset.rounded()) < 0.005, "a beep at \(onset)")
        }
    }

    @Test func seeksInAProgressiveMovieAreExact() async throws {
        let stream = try DecodedStream("movie.mp4", in: try #require(SampleStreams.directory))
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            for frame in [899, 0, 451, 120, 119, 300, 1] {
                _ = await stream.engine.seek(to: MediaTime(value: Int64(frame), timescale: 30), tolerance: .exact)
                #expect(stream.shown.all.last?.reading?.frame == frame)
            }
        }
    }

    /// Segments of such files may start in the middle of a frame.
    @Test func transportStreamSplitAtAnyByteIsPlayedCompletely() async throws {
        let bytes = try (0..<5).flatMap { try SampleStreams.bytes("ts/360p/\($0).ts") }
        let stream = try await played("whole.ts", bytes)
        #expect(frames(stream) == Array(0..<900))
        #expect(BeepFinder.onsets(stream.audio.all).count >= 29)
    }

    /// The remaining packets follow each other directly, so only their continuity counters and timestamps show the gap.
    @Test func holeInATransportStreamFileIsSkipped() async throws {
        var bytes = try (0..<5).flatMap { try SampleStreams.bytes("ts/360p/\($0).ts") }
        // Bounded: the samples have many packets.
        let count = bytes.count / 188
        bytes.removeSubrange(188 * (count * 4 / 10)..<188 * (count * 6 / 10))
        let stream = try await played("hole.ts", bytes)
        let skipped = stream.events.compactMap { event in
            if case .segmentSkipped(let segment) = event.kind { segment } else { nil }
        }
        let video = skipped.filter { $0.mediaType == .muxed }
        #expect(video.map(\.reason) == [.notDecodable] && video.map(\.sequence) == [nil], "\(skipped)")
        #expect(video.allSatisfy { $0.address.hasSuffix("/hole.ts") }, "\(skipped)")
        let range = try #require(video.first?.range)
        #expect(range.start.seconds > 9 && range.end.seconds < 21 && range.duration.seconds > 3, "\(range)")
        let errors = stream.events.compactMap { event in
            if case .error(let record) = event.kind { record } else { nil }
        }
        let record = try #require(errors.first)
        #expect(record.statusCode == -11_821 && record.didRecover && record.address?.hasSuffix("/hole.ts") == true)
        #expect(record.comment.hasPrefix("media of ") && record.comment.hasSuffix(" could not be decoded"), "\(record)")
    }

    @Test(arguments: ["mp3", "flac", "aac", "wav", "ogg", "m4a", "mkv"])
    func audioFilesArePlayed(kind: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sound-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let codec = ["mp3": "libmp3lame", "flac": "flac", "aac": "aac", "wav": "pcm_s16le", "ogg": "libvorbis"]
        _ = try Tool.ffmpeg(
            "-f lavfi -i aevalsrc=0.5*lt(mod(t\\,1)\\,0.05)*sin(2*PI*1000*t):s=48000:d=20 "
                + "-c:a \(codec[kind] ?? "aac") -ac 2 sound.\(kind)",
            in: folder
        )
        let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent("sound.\(kind)")))
        let stream = try await played("sound.\(kind)", bytes)
        let onsets = BeepFinder.onsets(stream.audio.all)
        #expect(onsets.count >= 19, "\(onsets)")
        // Encoders of some formats insert silence at the start without signaling it.
        let tolerance = ["mp3", "aac"].contains(kind) ? 0.06 : 0.03
        for onset in onsets.dropFirst() { #expect(abs(onset - onset.rounded()) < tolerance, "a beep at \(onset)") }
    }
}
