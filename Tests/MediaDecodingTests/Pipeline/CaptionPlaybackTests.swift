import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import MediaDecoding
@testable import Millstream

/// Tests closed captions in the video (CTA-608 in SEI messages), from the segments to the displayed cues.
@Suite(.timeLimit(.minutes(5)))
struct CaptionPlaybackTests {
    /// A pair of line 21 bytes for each frame, with odd parity: pop-on captions in row 15.
    ///
    /// "HELLO" is displayed in frames 30 to 90, and "BYE" from frame 120.
    private static let line21: [(UInt8, UInt8)] = {
        var pairs: [(UInt8, UInt8)] = []
        func add(_ first: UInt8, _ second: UInt8) { pairs.append((first, second)) }
        func control(_ first: UInt8, _ second: UInt8) { for _ in 0..<2 { add(first, second) } }
        func pad(to frame: Int) { while pairs.count < frame { add(0, 0) } }
        func load(_ text: String) {
            control(0x14, 0x20)
            control(0x14, 0x70)
            let codes = Array(text.utf8)
            for index in stride(from: 0, to: codes.count, by: 2) {
                add(codes[index], index + 1 < codes.count ? codes[index + 1] : 0)
            }
        }
        load("HELLO")
        pad(to: 30)
        control(0x14, 0x2F)
        pad(to: 90)
        control(0x14, 0x2C)
        load("BYE")
        pad(to: 120)
        control(0x14, 0x2F)
        pad(to: 180)
        return pairs.map { (parity($0), parity($1)) }
    }()

    private static func parity(_ byte: UInt8) -> UInt8 { byte.nonzeroBitCount % 2 == 1 ? byte : byte | 0x80 }

    /// Returns the SEI message of a frame: ATSC A/53 part 4 user data, in an H.264 network abstraction layer unit.
    private static func message(_ pair: (UInt8, UInt8)) -> [UInt8] {
        let data: [UInt8] =
            [0xB5, 0x00, 0x31] + Array("GA94".utf8) + [0x03, 0xC1, 0xFF, 0xFC, pair.0, pair.1, 0xFF]
        return [0, 0, 0, 1, 0x06, 0x04, UInt8(data.count)] + data + [0x80]
    }

    /// Inserts a message before the first slice of each frame in a byte stream (ITU-T H.264 annex B).
    private static func captioned(_ stream: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var picture = 0
        var index = 0
        while index < stream.count {
            let isStart = stream[index...].starts(with: [0, 0, 1])
            if isStart, index + 4 < stream.count {
                let kind = stream[index + 3] & 0x1F
                // The first bit of the slice data is set if the slice starts with the first macroblock.
                if kind == 1 || kind == 5, stream[index + 4] & 0x80 != 0 {
                    if picture < line21.count { result += message(line21[picture]) }
                    picture += 1
                }
            }
            result.append(stream[index])
            index += 1
        }
        return result
    }

    private static let multivariant = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="English",LANGUAGE="en",AUTOSELECT=YES,INSTREAM-ID="CC1"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,INSTREAM-ID="CC2"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e",CLOSED-CAPTIONS="cc"
        media.m3u8

        """

    /// Creates six seconds of video with captions, in segments of two seconds.
    private static func stream(_ type: String) throws -> Fixtures {
        let fixtures = try Fixtures()
        try fixtures.make(
            "-f lavfi -i testsrc2=s=192x108:r=30:d=6 -c:v libx264 -preset ultrafast -bf 0 -g 60 -keyint_min 60 "
                + "-sc_threshold 0 -x264-params slices=1 -f h264 plain.h264"
        )
        let captioned = captioned(try fixtures.bytes("plain.h264"))
        try Data(captioned).write(to: fixtures.folder.appendingPathComponent("captioned.h264"))
        try fixtures.make(
            "-fflags +genpts -framerate 30 -i captioned.h264 -c copy -f hls -hls_time 2 -hls_playlist_type vod "
                + "-hls_segment_type \(type) media.m3u8"
        )
        try Data(multivariant.utf8).write(to: fixtures.folder.appendingPathComponent("main.m3u8"))
        return fixtures
    }

    /// Plays the stream with the captions of a language, and returns the displayed cues with their times.
    private func play(_ folder: URL, language: String?) async throws -> [RecordedCues.Shown] {
        let simulation = Simulation()
        let cues = RecordedCues(simulation)
        let outputs = SharedOutputs(video: RecordedFrames(simulation), subtitles: cues)
        var environment = Player.Environment(
            time: simulation,
            makeLoading: { _, _ in
                ResourceLoader(FolderTransport(folder: folder, time: simulation), time: simulation, jitter: { 0 })
            },
            canDecode: { DecodingPipeline.canDecode($0) },
            makeSessionID: { "session" },
            date: { simulation.now }
        )
        environment.makePipeline = { try outputs.makePipeline(time: simulation, executor: simulation.actorExecutor) }
        return try await simulation.run { [environment] in
            let item = PlayerItem(ResourceAddress(FolderTransport.origin + "main.m3u8"), environment: environment)
            let player = try Player(playerItem: item)
            for await state in item.states where state.status != .unknown { break }
            #expect(item.error == nil && item.status == .readyToPlay)
            let group = try #require(item.mediaSelectionGroup(for: .legible))
            #expect(group.options.map(\.language) == ["en", "de"])
            item.select(group.options.first { $0.language == language }, in: group)
            try await simulation.sleep(for: .seconds(1))
            let start = simulation.now
            player.play()
            for await state in item.states where state.hasPlayedToEnd { break }
            // A displayed cue is delivered again when its end time is updated.
            let changes = cues.all.indices.filter { $0 == 0 || cues.all[$0].text != cues.all[$0 - 1].text }
            return changes.map { RecordedCues.Shown(time: cues.all[$0].time - start, text: cues.all[$0].text) }
        }
    }

    @Test(arguments: ["mpegts", "fmp4"]) func captionsInTheVideoAreDisplayedAtTheirTimes(type: String) async throws {
        let stream = try Self.stream(type)
        let shown = try await play(stream.folder, language: "en").drop { $0.text.isEmpty }
        #expect(shown.prefix(3).map(\.text) == ["HELLO", "", "BYE"])
        // Each control code is sent twice, so that its effect is visible one or two frames later.
        for (cue, frame) in zip(shown, [30, 90, 120]) {
            let late = cue.time / .seconds(1) - Double(frame) / 30
            #expect((-0.01..<0.15).contains(late), "\(cue)")
        }
    }

    @Test(arguments: ["de", nil]) func otherChannelsAndUnselectedCaptionsAreNotDisplayed(
        language: String?
    ) async throws {
        let stream = try Self.stream("mpegts")
        let shown = try await play(stream.folder, language: language)
        #expect(shown.allSatisfy { $0.text.isEmpty }, "\(shown)")
    }
}
