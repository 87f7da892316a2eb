import Foundation
import HLSPlaylist
import MediaOutput
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import MediaDecoding
@testable import Millstream

/// Tests that the selected audio and subtitle tracks of media files are played.
@Suite(.timeLimit(.minutes(5)))
final class FileTrackTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tracks-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Makes a file of 14 s with a tone of 440 Hz in English and one of 880 Hz in German.
    private func makeFile(_ name: String, _ options: String = "") throws {
        _ = try Tool.ffmpeg(
            "-f lavfi -i testsrc=d=14:s=64x48:r=10 -f lavfi -i sine=f=440:d=14 -f lavfi -i sine=f=880:d=14 "
                + "-map 0 -map 1 -map 2 -metadata:s:a:0 language=eng -metadata:s:a:1 language=deu "
                + "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 10 -c:a aac \(options) \(name)",
            in: folder
        )
    }

    /// Returns the frequency of the audio between two media times, from its zero crossings.
    private func frequency(_ audio: [AudioSamples], _ start: Double, _ end: Double) -> Double {
        let blocks = audio.filter { $0.time.seconds >= start && $0.time.seconds < end }
        let left = blocks.flatMap { block in
            stride(from: 0, to: block.samples.count, by: max(1, block.channelCount)).map { block.samples[$0] }
        }
        let crossings = zip(left, left.dropFirst()).count { $0 * $1 < 0 }
        return Double(crossings) / 2 / max(0.001, Double(left.count) / 48_000)
    }

    private func isNear(_ frequency: Double, _ expected: Double) -> Bool { abs(frequency / expected - 1) < 0.03 }

    private static let files = [
        ("two.mp4", ""), ("parts.mp4", "-movflags frag_keyframe+empty_moov"), ("two.mkv", ""), ("two.ts", ""),
    ]

    /// The preferred languages, and the frequency of the audio that is played.
    private static let frequencies: [(String?, Double)] = [(nil, 440), ("de", 880), ("deu", 880), ("en", 440)]
    /// The preferred languages, and the texts that are shown.
    private static let texts: [(String?, [String])] = [("en", ["Hello", "", "Bye"]), (nil, [])]

    @Test(arguments: files) func audioIsThatOfThePreferredLanguage(name: String, options: String) async throws {
        try makeFile(name, options)
        for (language, expected) in Self.frequencies {
            var settings = StreamingOptions()
            settings.selectionRules = MediaSelectionRules(audioLanguages: language.map { [$0] } ?? [])
            let stream = try DecodedStream(name, in: folder, options: settings)
            try await stream.run {
                await stream.engine.setRate(1)
                try await stream.wait { $0.hasPlayedToEnd }
            }
            let heard = frequency(stream.audio.all, 0.5, 13)
            #expect(isNear(heard, expected), "\(language ?? "-"): \(heard) Hz")
        }
    }

    @Test(arguments: files) func audioChangesWhileItPlays(name: String, options: String) async throws {
        try makeFile(name, options)
        let stream = try DecodedStream(name, in: folder)
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            let group = try #require(stream.engine.snapshot.presentation?.group(.audio))
            #expect(group.options.map(\.language) == ["eng", "deu"] && group.defaultOption?.language == "eng")
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(7))
            await stream.engine.select(group.options.last, for: .audio)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        let (before, after) = (frequency(stream.audio.all, 0.5, 6), frequency(stream.audio.all, 8, 13))
        #expect(isNear(before, 440) && isNear(after, 880), "\(before) Hz, then \(after) Hz")
        // The other track begins where the first one ended.
        for (block, next) in zip(stream.audio.all, stream.audio.all.dropFirst()) {
            #expect(abs((next.time - block.end).seconds) < 0.01, "a gap at \(block.end)")
        }
    }

    /// Returns an environment that plays the files of the test in simulated time.
    private func environment(_ simulation: Simulation, _ audio: RecordedAudio) -> Player.Environment {
        let folder = folder
        var environment = Player.Environment.decoding(for: PlayerOutputs(audio: .output(audio)))
        environment.time = simulation
        environment.decodingExecutor = simulation.actorExecutor
        environment.makeLoading = { _, _ in
            ResourceLoader(FolderTransport(folder: folder, time: simulation), time: simulation, jitter: { 0 })
        }
        environment.network = NetworkStatus()
        return environment
    }

    @Test func keySelectsTheNextAudioTrack() async throws {
        try makeFile("two.mp4")
        let (simulation, audio) = (Simulation(), RecordedAudio())
        let made = environment(simulation, audio)
        try await simulation.run {
            let player = Player(ResourceAddress(FolderTransport.origin + "two.mp4"), environment: made)
            let commands = PlayerCommandExecutor(player) { _ in }
            player.play()
            try await simulation.sleep(for: .seconds(4))
            await commands.execute(.nextAudio)
            try await simulation.sleep(for: .seconds(6))
            let item = try #require(player.currentItem)
            #expect(item.state.tracks.first { $0.mediaType == .audio }?.language == "deu")
            await player.shutDown()
        }
        let (before, after) = (frequency(audio.all, 0.5, 3), frequency(audio.all, 5, 9))
        #expect(isNear(before, 440) && isNear(after, 880), "\(before) Hz, then \(after) Hz")
    }

    /// The tracks of a file share its segments, so that a disabled track is silent and no other one is played.
    @Test func disabledAudioTrackIsSilent() async throws {
        try makeFile("two.mkv")
        let (simulation, audio) = (Simulation(), RecordedAudio())
        let made = environment(simulation, audio)
        try await simulation.run {
            let player = Player(ResourceAddress(FolderTransport.origin + "two.mkv"), environment: made)
            player.play()
            try await simulation.sleep(for: .seconds(4))
            let item = try #require(player.currentItem)
            let track = try #require(item.state.tracks.first { $0.mediaType == .audio })
            #expect(track.canBeDisabled && item.setEnabled(false, track))
            try await simulation.sleep(for: .seconds(4))
            await player.shutDown()
        }
        let late = audio.all.filter { $0.time > MediaTime(seconds: 5) }
        #expect(!late.isEmpty && late.allSatisfy { $0.samples.allSatisfy { $0 == 0 } })
    }

    @Test(arguments: [("srt", "mkv"), ("ass", "mkv"), ("webvtt", "mkv"), ("mov_text", "mp4")])
    func subtitlesAreShownIfTheyAreSelected(codec: String, kind: String) async throws {
        let text = "1\n00:00:02,000 --> 00:00:03,000\nHello\n\n2\n00:00:11,000 --> 00:00:12,000\nBye\n"
        try Data(text.utf8).write(to: folder.appendingPathComponent("text.srt"))
        try makeFile("plain.mkv")
        _ = try Tool.ffmpeg(
            "-i plain.mkv -i text.srt -map 0 -map 1 -metadata:s:s:0 language=eng -c copy -c:s \(codec) text.\(kind)",
            in: folder
        )
        for (language, expected) in Self.texts {
            var settings = StreamingOptions()
            settings.selectionRules = MediaSelectionRules(subtitleLanguages: language.map { [$0] } ?? [])
            let stream = try DecodedStream("text.\(kind)", in: folder, options: settings)
            try await stream.run {
                await stream.engine.setRate(1)
                try await stream.wait { $0.hasPlayedToEnd }
            }
            let shown = stream.cues.all.map(\.text)
            var changes: [String] = []
            for text in shown where text != (changes.last ?? "") { changes.append(text) }
            #expect(Array(changes.prefix(3)) == expected, "\(shown)")
        }
    }
}
