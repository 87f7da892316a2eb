import HLSPlaylist
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

/// Tests of the selection among video renditions, such as camera angles (RFC 8216bis §4.4.6.1, TYPE=VIDEO).
@Suite struct VideoRenditionTests {
    private static let multivariant = """
        #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Main",DEFAULT=YES,AUTOSELECT=YES
        #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Goal",URI="goal.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.4d401e,mp4a.40.2",RESOLUTION=640x360,VIDEO="v"
        main-angle.m3u8
        """

    private static func stream() -> TextStreamPlayback {
        TextStreamPlayback(TextStreamPlayback.texts(multivariant, ["main-angle", "goal"], count: 20))
    }

    @Test func theDefaultVideoIsPlayedWithoutASelection() async throws {
        let texts = TextStreamPlayback.texts(Self.multivariant, ["main-angle", "goal"])
        let stream = try await TextStreamPlayback.playedOut(texts)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(stream.asked("main-angle").count == 6 && stream.asked("goal").isEmpty)
    }

    @Test func aSelectedVideoReplacesTheBufferFromThePlayheadOn() async throws {
        let stream = Self.stream()
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.timebase.mediaTime(at: stream.simulation.now) > MediaTime(seconds: 20) }
            let option = engine.snapshot.presentation?.group(.video)?.options.first { $0.name == "Goal" }
            let goal = try #require(option)
            await engine.select(goal, for: .video)
            #expect(engine.snapshot.selection[.video] == goal)
            try await stream.expect { $0.hasPlayedToEnd || $0.status == .failed }
        }
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        let prefix = TextStreamPlayback.origin + "goal"
        let numbers = stream.asked("goal").compactMap { Int($0.dropFirst(prefix.count).dropLast(3)) }
        // The segment at the playhead, at 18 s to 24 s, is replaced, too.
        #expect(numbers == Array(3..<20))
        #expect(!stream.events.all.contains { if case .segmentSkipped = $0.kind { true } else { false } })
    }

    @Test func theFormerVideoIsPlayedIfTheSelectedOneCannotBeLoaded() async throws {
        let texts = TextStreamPlayback.texts(Self.multivariant, ["main-angle"], count: 20)
        let stream = TextStreamPlayback(texts)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.status == .readyToPlay }
            let option = engine.snapshot.presentation?.group(.video)?.options.first { $0.name == "Goal" }
            let goal = try #require(option)
            await engine.select(goal, for: .video)
            try await stream.expect { $0.hasPlayedToEnd || $0.status == .failed }
        }
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(stream.transport.requestedAddresses.filter { $0.hasSuffix("goal.m3u8") }.count == 1)
    }
}
