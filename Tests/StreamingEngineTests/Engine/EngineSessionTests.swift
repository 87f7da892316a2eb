import HLSPlaylist
import MediaTiming
import PlaybackReporting
import TestTranscripts
import Testing

@testable import StreamingEngine

/// Tests that compare complete sessions of the engine with reviewed transcripts of every event, effect, report and
/// change of the snapshot.
///
/// With `MILLSTREAM_RECORD_TRANSCRIPTS=1`, the transcripts are written again after an intended change.
@Suite struct EngineSessionTests {
    @Test(arguments: EngineScenario.all.keys.sorted())
    func theTranscriptOfASessionIsUnchanged(_ group: String) throws {
        var transcript = Transcript(group, besideFileAt: #filePath)
        for scenario in try #require(EngineScenario.all[group]) {
            var session = EngineSession(scenario.options)
            try scenario.run(&session)
            transcript.add(scenario.name, lines: session.lines)
        }
        let difference = try transcript.difference()
        #expect(difference == nil, "\(difference ?? "")")
    }

    @Test func everyScenarioHasItsOwnName() {
        for (group, scenarios) in EngineScenario.all {
            #expect(Set(scenarios.map(\.name)).count == scenarios.count, "\(group)")
        }
    }

    @Test(arguments: EngineScenario.all.keys.sorted())
    func aSessionIsDeterministic(_ group: String) throws {
        for scenario in try #require(EngineScenario.all[group]) {
            func lines() throws -> [String] {
                var session = EngineSession(scenario.options)
                try scenario.run(&session)
                return session.lines
            }
            #expect(try lines() == lines(), "\(scenario.name)")
        }
    }
}

/// A session with the name of its transcript.
struct EngineScenario: Sendable {
    let name: String
    var options = StreamingOptions()
    let run: @Sendable (inout EngineSession) throws -> Void

    init(
        _ name: String,
        _ change: (inout StreamingOptions) -> Void = { _ in },
        run: @escaping @Sendable (inout EngineSession) throws -> Void
    ) {
        self.name = name
        self.run = run
        change(&options)
    }

    /// The scenarios by the name of their transcript.
    static let all: [String: [EngineScenario]] = [
        "start": start, "synchronized-start": synchronizedStart, "seek": seek, "trick-play": trickPlay,
        "tracks": tracks,
        "reloads": reloads, "recovery": recovery, "live": live, "buffer": buffer, "end": end, "variants": variants,
        "renewal": renewal, "steering": steering,
    ]
}

/// Playlists of the scenarios.
extension EngineSession {
    /// Returns a media playlist on demand whose segments last 6 s; each of `lines` is inserted before the segment with
    /// its number.
    static func vod(_ name: String, _ count: Int = 6, duration: String = "6", _ lines: [Int: String] = [:]) -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        for number in 0..<count {
            if let line = lines[number] { text += line + "\n" }
            text += "#EXTINF:\(duration),\n\(name)\(number).ts\n"
        }
        return text + "#EXT-X-ENDLIST\n"
    }

    /// Returns a window of a live playlist.
    static func live(
        _ name: String,
        _ first: Int,
        _ count: Int = 4,
        _ header: String = "",
        dated: Bool = false,
        ended: Bool = false
    ) -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(first)\n\(header)"
        for number in first..<(first + count) {
            if dated { text += "#EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(number * 6))\n" }
            text += "#EXTINF:6,\n\(name)\(number).ts\n"
        }
        return text + (ended ? "#EXT-X-ENDLIST\n" : "")
    }

    /// A multivariant playlist with the variants `low` and `high`.
    static let ladder = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,CODECS="avc1.4d401f,mp4a.40.2"
        high.m3u8

        """

    /// Plays an item on demand with one variant of segments that last 6 s.
    mutating func playVOD(_ count: Int = 6, _ lines: [Int: String] = [:], until seconds: Double) {
        playlists["v.m3u8"] = [Self.vod("v", count, lines)]
        start("v.m3u8")
        setRate(1)
        run(until: seconds)
    }

    /// Plays an item with the variants of ``ladder``.
    mutating func playLadder(_ text: String = ladder, _ count: Int = 6, until seconds: Double) {
        playlists["main.m3u8"] = [text]
        for name in ["low", "high"] where playlists["\(name).m3u8"] == nil {
            playlists["\(name).m3u8"] = [Self.vod(name, count)]
        }
        start("main.m3u8")
        setRate(1)
        run(until: seconds)
    }

    /// Seeks to a time, in seconds.
    mutating func seek(to seconds: Int, _ tolerance: SeekTolerance = .exact, waiter: Int = 1) {
        command(.seek(to: MediaTime(seconds: Int64(seconds)), tolerance, waiter: waiter))
    }
}
