import Foundation
import MediaOutput
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import StreamingEngine
import Synchronization
import Testing

@testable import MediaDecoding
@testable import Millstream

/// Tests the commands of keys that concern what is shown and heard, with decoded media in simulated time.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct PlayerCommandTests {
    private final class Texts: Sendable {
        private let texts = Mutex<[String]>([])
        func add(_ text: String) { texts.withLock { $0.append(text) } }
        func take() -> [String] {
            texts.withLock { texts in
                defer { texts = [] }
                return texts
            }
        }
    }

    /// Plays a stream for some seconds, and executes commands.
    private static func withPlayer(
        _ path: String = "fmp4/multivariant.m3u8",
        screenshotFolder: String = ".",
        replacements: [String: [UInt8]] = [:],
        _ body: @Sendable (PlayerCommandExecutor, Player, Simulation, Texts) async throws -> Void
    ) async throws {
        let simulation = Simulation()
        let folder = try #require(SampleStreams.directory)
        var environment = Player.Environment.decoding(for: PlayerOutputs(audio: .output(RecordedAudio())))
        environment.time = simulation
        environment.decodingExecutor = simulation.actorExecutor
        environment.makeLoading = { _, _ in
            let transport = FolderTransport(folder: folder, time: simulation, replacements: replacements)
            return ResourceLoader(transport, time: simulation, jitter: { 0 })
        }
        environment.network = NetworkStatus()
        let (texts, made) = (Texts(), environment)
        try await simulation.run {
            let player = Player(ResourceAddress(FolderTransport.origin + path), environment: made)
            let commands = PlayerCommandExecutor(player, screenshotFolder: screenshotFolder) { texts.add($0) }
            player.play()
            try await simulation.sleep(for: .seconds(2))
            try await body(commands, player, simulation, texts)
            await player.shutDown()
        }
    }

    @Test func loopRepeatsATimeRangeUntilItEnds() async throws {
        try await Self.withPlayer { commands, player, simulation, texts in
            let item = try #require(player.currentItem)
            await commands.execute(.seekTo(MediaTime(seconds: 4)))
            await commands.execute(.toggleLoop)
            try await simulation.sleep(for: .seconds(2))
            await commands.execute(.toggleLoop)
            var (position, repetitions) = (item.currentTime().seconds, 0)
            for _ in 0..<400 where repetitions < 3 {
                try await simulation.sleep(for: .milliseconds(100))
                let next = item.currentTime().seconds
                if next < position {
                    repetitions += 1
                    #expect(position >= 5.8 && (3.9...4.6).contains(next), "\(position) to \(next)")
                }
                position = next
            }
            #expect(repetitions == 3)
            await commands.execute(.toggleLoop)
            try await simulation.sleep(for: .seconds(4))
            #expect(item.currentTime().seconds > 6.5)
            #expect(texts.take() == ["Loop from 00:04.0", "Loop 00:04.0 to 00:06.0", "Loop off"])
        }
    }

    /// At the end of a live stream, playback goes on with the stream.
    @Test func theEndOfALiveStreamDoesNotPause() async throws {
        let folder = try #require(SampleStreams.directory)
        let path = "ts/180p/media.m3u8"
        let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
        let live = Array(
            text.replacing("#EXT-X-ENDLIST", with: "").replacing("#EXT-X-PLAYLIST-TYPE:VOD", with: "").utf8
        )
        try await Self.withPlayer(path, replacements: [path: live]) { commands, player, simulation, _ in
            let item = try #require(player.currentItem)
            await commands.execute(.seekTo(.zero))
            try await simulation.sleep(for: .seconds(3))
            #expect(item.currentTime() < MediaTime(seconds: 10) && player.rate == 1)
            let end = try #require(item.seekableTimeRanges.ranges.last?.end)
            await commands.execute(.seekTo(end))
            #expect(player.rate == 1)
            #expect(item.currentTime() >= end - MediaTime(seconds: 6))
        }
    }

    @Test func pauseKeepsTheRate() async throws {
        try await Self.withPlayer { commands, player, simulation, texts in
            let item = try #require(player.currentItem)
            // A rate that was set without keys counts too.
            player.rate = 4
            for _ in 0..<2 {
                await commands.execute(.togglePause)
                #expect(player.rate == 0)
                await commands.execute(.togglePause)
                #expect(player.rate == 4)
            }
            await commands.execute(.slower)
            await commands.execute(.step(1))
            #expect(player.rate == 0)
            await commands.execute(.togglePause)
            #expect(player.rate == 2 && texts.take() == ["2×"])
            // A key for the rate continues from the rate before the pause.
            await commands.execute(.togglePause)
            await commands.execute(.faster)
            await commands.execute(.togglePause)
            #expect(player.rate == 4)
            await commands.execute(.seekTo(MediaTime(seconds: 4)))
            player.rate = -1
            await commands.execute(.togglePause)
            await commands.execute(.togglePause)
            #expect(player.rate == -1)
            // Before the first frame, there is nothing to play in reverse.
            try await simulation.sleep(for: .seconds(6))
            #expect(player.rate == 0 && item.currentTime() == .zero)
            await commands.execute(.togglePause)
            #expect(player.rate == 1)
        }
    }

    @Test func aRateThatIsSelectedWhilePausedIsUsedByTheNextPlay() async throws {
        try await Self.withPlayer { commands, player, simulation, texts in
            let item = try #require(player.currentItem)
            await commands.execute(.togglePause)
            try await simulation.sleep(for: .seconds(1))
            let position = item.currentTime()
            await commands.execute(.faster)
            await commands.execute(.faster)
            try await simulation.sleep(for: .seconds(2))
            #expect(player.rate == 0 && item.currentTime() == position)
            #expect(texts.take() == ["1.25×", "1.5×"])
            await commands.execute(.togglePause)
            #expect(player.rate == 1.5)
            await commands.execute(.togglePause)
            await commands.execute(.normalSpeed)
            #expect(player.rate == 0 && player.defaultRate == 1)
            #expect(texts.take() == ["1×"])
        }
    }

    /// Key frames are 2 s apart, and would be the nearest positions.
    @Test func seeksByADurationAreExact() async throws {
        try await Self.withPlayer { commands, player, simulation, texts in
            let item = try #require(player.currentItem)
            player.pause()
            await player.seek(to: MediaTime(value: 13, timescale: 10), toleranceBefore: .zero, toleranceAfter: .zero)
            let start = item.currentTime()
            await commands.execute(.seekBy(MediaTime(seconds: 10)))
            #expect(abs((item.currentTime() - start).seconds - 10) < 0.05, "\(item.currentTime())")
            await commands.execute(.seekBy(MediaTime(seconds: -10)))
            #expect(abs((item.currentTime() - start).seconds) < 0.05, "\(item.currentTime())")
            #expect(texts.take() == ["+10 s", "-10 s"])
        }
    }

    @Test func successiveSeeksThatWaitBecomeOne() {
        let (seeks, ten) = (WaitingSeeks(), MediaTime(seconds: 10))
        let first = seeks.add(.seekBy(ten))
        #expect(first && seeks.take(.seekBy(ten)) == .seekBy(ten))
        // The first one is executed now, and the others wait.
        let added = [PlayerCommand.seekBy(ten), .seekBy(ten), .togglePause, .seekBy(ten)].map { seeks.add($0) }
        #expect(added == [true, false, true, true])
        let taken = [PlayerCommand.seekBy(ten), .togglePause, .seekBy(ten)].map { seeks.take($0) }
        #expect(taken == [.seekBy(MediaTime(seconds: 20)), .togglePause, .seekBy(ten)])
    }

    @Test func playbackStartsAgainAtTheSameRate() async throws {
        try await Self.withPlayer { commands, player, simulation, _ in
            let item = try #require(player.currentItem)
            await commands.execute(.faster)
            let duration = try #require(item.seekableTimeRanges.ranges.last?.end)
            await commands.execute(.seekTo(duration - MediaTime(seconds: 1)))
            try await simulation.sleep(for: .seconds(3))
            #expect(item.hasPlayedToEnd && player.rate == 0)
            await commands.execute(.togglePause)
            #expect(player.rate == 1.25 && item.currentTime() < MediaTime(seconds: 1))
        }
    }

    @Test func selectedRenditionIsNamedWithItsType() async throws {
        try await Self.withPlayer { commands, player, simulation, texts in
            var selected: Set<String> = []
            for command in [PlayerCommand.nextAudio, .nextAudio, .nextSubtitles, .nextSubtitles, .nextSubtitles] {
                await commands.execute(command)
                selected.formUnion(texts.take())
                try await simulation.sleep(for: .seconds(2))
            }
            let names = ["Audio: English", "Audio: 한국어", "Subtitles: English", "Subtitles: 한국어", "Subtitles: off"]
            #expect(selected == Set(names))
        }
    }

    @Test func loopCanBeSetWhilePlaybackIsInReverse() async throws {
        try await Self.withPlayer { commands, player, simulation, texts in
            await commands.execute(.seekTo(MediaTime(seconds: 10)))
            await commands.execute(.toggleLoop)
            // A loop needs two times.
            await commands.execute(.toggleLoop)
            await commands.execute(.seekTo(MediaTime(seconds: 8)))
            await commands.execute(.toggleLoop)
            #expect(texts.take().last == "Loop 00:08.0 to 00:10.0")
        }
    }

    @Test func screenshotHasTheShownPicture() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "screenshots-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await Self.withPlayer(screenshotFolder: folder.path) { commands, player, simulation, texts in
            player.pause()
            await commands.execute(.seekTo(MediaTime(seconds: 4)))
            await commands.execute(.saveScreenshot)
            #expect(texts.take() == ["Saved screenshot-00.00.04.000.png"])
            let frame = try #require(player.outputs?.video.currentFrame)
            let file = try Data(contentsOf: folder.appending(path: "screenshot-00.00.04.000.png"))
            #expect(try Array(file) == PNGEncoder.encode(frame.pixelBuffer))
            // An earlier picture is not overwritten.
            await commands.execute(.saveScreenshot)
            #expect(texts.take() == ["Saved screenshot-00.00.04.000-2.png"])
            try FileManager.default.removeItem(at: folder)
            await commands.execute(.saveScreenshot)
            #expect(texts.take().first?.hasPrefix("The picture cannot be saved: ") == true)
        }
    }

    @Test func raisingTheVolumeUnmutesAndLoweringItDoesNot() async throws {
        try await Self.withPlayer { commands, player, simulation, texts in
            await commands.execute(.toggleMute)
            await commands.execute(.changeVolume(-0.05))
            #expect(player.isMuted)
            await commands.execute(.changeVolume(0.05))
            #expect(!player.isMuted)
            await commands.execute(.changeVolume(-0.05))
            #expect(texts.take() == ["Muted", "95 % (muted)", "100 %", "95 %"])
        }
    }

    @Test func keysChangeTheDelaysOfAudioAndSubtitles() async throws {
        try await Self.withPlayer { commands, player, simulation, texts in
            let delays = try #require(player.outputs?.delays)
            let step = MediaTime(value: 1, timescale: 20)
            await commands.execute(.changeAudioDelay(step))
            await commands.execute(.changeAudioDelay(step))
            await commands.execute(.changeSubtitleDelay(.zero - step))
            #expect(texts.take() == ["Audio +50 ms", "Audio +100 ms", "Subtitles -50 ms"])
            #expect(delays.audio == MediaTime(value: 1, timescale: 10) && delays.subtitles == .zero - step)
            delays.audio = MediaTime(seconds: 1_000)
            #expect(delays.audio == OutputDelays.limit)
        }
    }

    @Test func delayedAudioIsHeardAfterItsPicture() async throws {
        let delays = OutputDelays()
        delays.audio = MediaTime(value: 1, timescale: 2)
        let folder = try #require(SampleStreams.directory)
        let stream = try DecodedStream("ts/360p/media.m3u8", in: folder, delays: delays)
        let changed: MediaTime = try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(3))
            delays.audio = .zero - MediaTime(value: 1, timescale: 4)
            let position = stream.pipeline.timebase.mediaTime(at: stream.simulation.now)
            try await stream.simulation.sleep(for: .seconds(3))
            return position
        }
        let sections = stream.audio.sections
        let (before, after) = (try #require(sections.dropLast().last), try #require(sections.last))
        // Silence precedes the delayed audio, whose beeps keep their media times.
        #expect(before.first?.time == .zero - MediaTime(value: 1, timescale: 2))
        for onset in BeepFinder.onsets(before).dropFirst() { #expect(abs(onset - onset.rounded()) < 0.02, "\(onset)") }
        let first = try #require(after.first?.time)
        #expect(abs((first - changed).seconds - 0.25) < 0.06, "\(first) after \(changed)")
        // What is enqueued is a little ahead of what is heard.
        let end = try #require(before.last?.end)
        #expect((0...0.3).contains((end - changed).seconds + 0.5), "\(end) before \(changed)")
        for onset in BeepFinder.onsets(after).dropFirst() { #expect(abs(onset - onset.rounded()) < 0.02, "\(onset)") }
    }

    @Test(arguments: [0.5, -0.15]) func delayedSubtitlesAreShownLater(delay: Double) async throws {
        let delays = OutputDelays()
        delays.subtitles = try #require(MediaTime(approximating: delay))
        var options = StreamingOptions()
        options.selectionRules.subtitleLanguages = ["en"]
        options.selectionRules.subtitleMode = .always
        let folder = try #require(SampleStreams.directory)
        let stream = try DecodedStream("fmp4/multivariant.m3u8", in: folder, options: options, delays: delays)
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(10))
        }
        let shown = stream.cues.all.filter { !$0.text.isEmpty }
        #expect(shown.count >= 9)
        for (second, cue) in shown.enumerated() {
            #expect(abs(cue.time / .seconds(1) - Double(second) - 0.2 - delay) < 0.03, "\(cue)")
        }
    }
}
