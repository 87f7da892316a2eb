import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import Testing

@testable import StreamingEngine

// MARK: - Playlists

extension EngineSession {
    /// Two variants, and an I-frame playlist whose frames last 2 s.
    fileprivate static let ladderWithIFrames =
        ladder + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,RESOLUTION=640x360,CODECS=\"avc1.4d401e\",URI=\"i.m3u8\"\n"

    /// Returns an I-frame playlist whose frames last 2 s.
    fileprivate static func iFrames(_ count: Int) -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-I-FRAMES-ONLY\n"
        for number in 0..<count { text += "#EXTINF:2,\ni\(number).ts\n" }
        return text + "#EXT-X-ENDLIST\n"
    }

    /// Plays an item with an I-frame playlist in a pipeline that shows all frames up to a rate of 2.
    fileprivate mutating func playWithIFrames(_ text: String = ladderWithIFrames, until seconds: Double) {
        observation.abilities.fullPresentationRates = -2...2
        playlists["i.m3u8"] = [Self.iFrames(90)]
        transferTimes["i"] = 0.1
        playLadder(text, 30, until: seconds)
    }

    /// Audio in two languages and subtitles in separate playlists, for two variants.
    fileprivate static let separate = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="text.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="a",SUBTITLES="s"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,CODECS="avc1.4d401f,mp4a.40.2",AUDIO="a",SUBTITLES="s"
        high.m3u8

        """

    /// English audio that is muxed with the video, and Korean audio in a separate playlist.
    fileprivate static let muxedOrSeparate = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="a"
        low.m3u8

        """

    /// Audio that is in a separate playlist only for the variant with the higher bit rate.
    fileprivate static let partlySeparate = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="m",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="m"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,CODECS="avc1.4d401f,mp4a.40.2",AUDIO="a"
        high.m3u8

        """

    /// Each variant and each rendition is at two locations.
    fileprivate static let redundant = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en2.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="a"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="b"
        low2.m3u8

        """

    fileprivate mutating func playSeparate(_ text: String = separate, _ count: Int = 5, until seconds: Double) {
        for name in ["en", "ko", "text", "en2", "low2"] where playlists["\(name).m3u8"] == nil {
            playlists["\(name).m3u8"] = [Self.vod(name, count)]
        }
        playLadder(text, count, until: seconds)
    }

    fileprivate func option(_ name: String, _ type: Rendition.MediaType) -> MediaSelectionOption? {
        state.control.plan.catalog.presentation?.group(type)?.options.first { $0.name == name }
    }

    /// Returns the windows of a live playlist, each of which begins one segment after the one before.
    fileprivate static func windows(_ name: String, _ count: Int, header: String = "") -> [String] {
        (0..<count).map { live(name, $0, header) }
    }

    fileprivate static func live(_ name: String, _ first: Int, _ header: String) -> String {
        live(name, first, 4, header)
    }

    fileprivate mutating func playLive(_ texts: [String], until seconds: Double) {
        transferTimes["v"] = 0.5
        playlists["v.m3u8"] = texts
        start("v.m3u8")
        setRate(1)
        run(until: seconds)
    }
}

// MARK: - Tracks

extension EngineScenario {
    static let trickPlay: [EngineScenario] = [
        EngineScenario("trick play forwards and back to the normal rate") { session in
            session.playWithIFrames(until: 5)
            session.setRate(8)
            session.run(until: 7)
            session.setRate(1)
            session.run(until: 9)
        },
        EngineScenario("trick play at a rate that needs every other I-frame") { session in
            session.playWithIFrames(until: 5)
            session.setRate(32)
            session.run(until: 6)
        },
        EngineScenario("trick play backwards") { session in
            session.playWithIFrames(until: 5)
            session.seek(to: 150)
            session.run(until: 7)
            session.setRate(-32)
            session.run(until: 9)
            session.setRate(0)
            session.run(until: 10)
        },
        EngineScenario("a rate that the pipeline shows in full") { session in
            session.playWithIFrames(until: 5)
            session.setRate(2)
            session.run(until: 6)
        },
        EngineScenario("an item without I-frames") { session in
            session.playWithIFrames(EngineSession.ladder, until: 5)
            session.setRate(8)
            session.run(until: 6)
        },
        EngineScenario("the I-frame playlist is missing") { session in
            session.outcomes["i.m3u8"] = [.status(404)]
            session.playWithIFrames(until: 5)
            session.setRate(8)
            session.run(until: 7)
        },
        EngineScenario("an I-frame is missing") { session in
            session.outcomes["i10.ts"] = [.status(404)]
            session.playWithIFrames(until: 5)
            session.setRate(8)
            session.run(until: 7)
        },
        EngineScenario("an I-frame is not available") { session in
            session.outcomes["i10.ts"] = [.unreachable]
            session.playWithIFrames(until: 5)
            session.setRate(8)
            session.run(until: 7)
        },
        EngineScenario("another I-frame playlist is no better") { session in
            session.playWithIFrames(
                EngineSession.ladderWithIFrames
                    + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000000,RESOLUTION=1280x720,CODECS=\"avc1.4d401f\",URI=\"big.m3u8\"\n",
                until: 5
            )
            session.setRate(8)
            session.run(until: 6)
        },
        EngineScenario("a seek during trick play") { session in
            session.playWithIFrames(until: 5)
            session.setRate(8)
            session.run(until: 6)
            session.seek(to: 100)
            session.run(until: 8)
        },
        EngineScenario("a variant is pinned during trick play") { session in
            session.playWithIFrames(until: 5)
            session.setRate(8)
            session.run(until: 6)
            let low = session.state.control.plan.catalog.presentation?.variants.first
            session.update { $0.pinnedVariant = low?.id.text }
            session.setRate(1)
            session.run(until: 8)
        },
        EngineScenario("playback goes on to the end during trick play") { session in
            session.playWithIFrames(until: 5)
            session.seek(to: 160)
            session.run(until: 7)
            session.setRate(16)
            session.run(until: 12)
        },
    ]

    static let tracks: [EngineScenario] = [
        EngineScenario("audio and subtitles are separate") { $0.playSeparate(until: 40) },
        EngineScenario("another language is selected") { session in
            session.playSeparate(until: 6)
            session.command(.select(session.option("Korean", .audio), .audio))
            session.command(.select(session.option("Korean", .audio), .audio))
            session.run(until: 9)
        },
        EngineScenario("subtitles are turned off and on") { session in
            session.playSeparate(until: 6)
            let option = session.option("English", .subtitles)
            session.command(.select(nil, .subtitles))
            session.run(until: 8)
            session.command(.select(option, .subtitles))
            session.run(until: 10)
        },
        EngineScenario("an option of another item is selected") { session in
            session.command(.select(nil, .audio))
            session.playSeparate(until: 4)
            let unknown = session.option("English", .subtitles)
            session.command(.select(unknown, .audio))
            session.run(until: 5)
        },
        EngineScenario("audio of its own replaces audio that is muxed") { session in
            session.playSeparate(EngineSession.muxedOrSeparate, until: 6)
            session.command(.select(session.option("Korean", .audio), .audio))
            session.run(until: 9)
            session.command(.select(session.option("English", .audio), .audio))
            session.run(until: 14)
        },
        EngineScenario("audio is muxed with the next variant") { session in
            session.playSeparate(EngineSession.partlySeparate, until: 4)
            session.update { $0.preferredPeakBitRate = BitRate(bitsPerSecond: 600_000) }
            session.run(until: 30)
        },
        EngineScenario("audio is muxed with the next variant, and the playhead moves") { session in
            session.transferTimes["en"] = 4
            session.playSeparate(EngineSession.partlySeparate, 12, until: 4)
            session.update { $0.preferredPeakBitRate = BitRate(bitsPerSecond: 600_000) }
            session.run(until: 9)
            session.seek(to: 50)
            session.run(until: 14)
        },
        EngineScenario("the audio playlist is slower than the video playlist") { session in
            session.transferTimes["en.m3u8"] = 4
            session.playSeparate(until: 9)
        },
        EngineScenario("the video playlist is slower than the audio playlist") { session in
            session.transferTimes["high.m3u8"] = 4
            session.transferTimes["low.m3u8"] = 4
            session.playSeparate(until: 9)
        },
        EngineScenario("the subtitles cannot be loaded") { session in
            session.outcomes["text.m3u8"] = [.status(404)]
            session.playSeparate(until: 5)
        },
        EngineScenario("segments of the subtitles cannot be loaded") { session in
            session.outcomes["text1.ts"] = [.status(503)]
            session.outcomes["text2.ts"] = [.notDecodable]
            session.playSeparate(until: 9)
        },
        EngineScenario("the audio cannot be loaded") { session in
            session.outcomes["en.m3u8"] = [.status(404)]
            session.playSeparate(until: 5)
        },
        EngineScenario("segments of the audio cannot be loaded") { session in
            session.outcomes["en1.ts"] = [.status(404)]
            session.playSeparate(until: 12)
        },
        EngineScenario("none of the segments of the audio can be loaded") { session in
            for number in 0..<8 { session.outcomes["en\(number).ts"] = [.status(404)] }
            session.playSeparate(EngineSession.separate, 8, until: 30)
        },
        EngineScenario("the key of the audio is refused") { session in
            session.outcomes["en2.ts"] = [.keyRefused]
            session.playSeparate(until: 30)
        },
        EngineScenario("the audio is at another location too") { session in
            session.outcomes["en1.ts"] = [.status(404)]
            session.playSeparate(EngineSession.redundant, until: 6)
        },
        EngineScenario("the audio playlist is at another location too") { session in
            session.outcomes["en.m3u8"] = [.status(404)]
            session.playSeparate(EngineSession.redundant, until: 6)
        },
        EngineScenario("the audio is shorter than the video") { session in
            session.playlists["en.m3u8"] = [EngineSession.vod("en", 2)]
            session.playSeparate(EngineSession.separate, 3, until: 25)
        },
        EngineScenario("the audio is longer than the video") { session in
            session.playlists["en.m3u8"] = [EngineSession.vod("en", 4)]
            session.playSeparate(EngineSession.separate, 3, until: 30)
        },
        EngineScenario("playback backwards after the end of the audio", { $0.startTime = MediaTime(seconds: 20) }) {
            session in
            session.playlists["en.m3u8"] = [EngineSession.vod("en", 2)]
            session.playSeparate(EngineSession.separate, 4, until: 4)
            session.setRate(-1)
            session.run(until: 30)
        },
        EngineScenario("variants of audio alone") { session in
            session.playSeparate(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="a"
                en.m3u8

                """,
                until: 4
            )
            session.command(.select(session.option("Korean", .audio), .audio))
            session.run(until: 8)
        },
    ]
}

// MARK: - Reloads and failures

extension EngineScenario {
    static let reloads: [EngineScenario] = [
        EngineScenario("a rendition report determines the first request of another variant") { session in
            for (name, other) in [("low", "high"), ("high", "low")] {
                session.playlists["\(name).m3u8"] = (0..<6).map { number in
                    EngineSession.live(name, number, 4, "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n")
                        + "#EXT-X-RENDITION-REPORT:URI=\"\(other).m3u8\",LAST-MSN=\(number + 3)\n"
                }
            }
            session.playLadder(until: 12)
        },
        EngineScenario("a live playlist is reloaded") { session in
            session.playLive(EngineSession.windows("v", 9), until: 20)
        },
        EngineScenario("a live playlist ends") { session in
            session.playLive(
                EngineSession.windows("v", 2) + [EngineSession.live("v", 2, 4, ended: true)],
                until: 60
            )
        },
        EngineScenario("a live playlist does not change") { session in
            session.playLive([EngineSession.live("v", 0)], until: 120)
        },
        EngineScenario("the playlists of both variants do not change") { session in
            session.playlists["low.m3u8"] = [EngineSession.live("low", 0)]
            session.playlists["high.m3u8"] = [EngineSession.live("high", 0)]
            session.playLadder(until: 120)
        },
        EngineScenario("the playlist of one variant does not change") { session in
            session.playlists["low.m3u8"] = EngineSession.windows("low", 40)
            session.playlists["high.m3u8"] = [EngineSession.live("high", 0)]
            session.playLadder(until: 60)
        },
        EngineScenario("reloads fail for a while") { session in
            session.outcomes["v.m3u8"] = [
                .loaded, .status(500), .status(503, retryAfter: 9), .unreachable, .loaded,
            ]
            session.playLive(EngineSession.windows("v", 9), until: 50)
        },
        EngineScenario("reloads fail for ever") { session in
            session.outcomes["v.m3u8"] = [.loaded, .status(404)]
            session.playLive([EngineSession.live("v", 0)], until: 200)
        },
        EngineScenario("a reload brings something else") { session in
            session.playLive([EngineSession.live("v", 0), "<html>", EngineSession.live("v", 1)], until: 16)
        },
        EngineScenario("delta updates cannot be applied, and the whole playlist helps") { session in
            let control = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36\n"
            let delta =
                "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:50\n\(control)"
                + "#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n#EXTINF:6,\nv53.ts\n"
            session.playLive(
                [EngineSession.live("v", 0, control), delta, EngineSession.live("v", 1, control)],
                until: 16
            )
        },
        EngineScenario("delta updates can never be applied") { session in
            session.playLive(EngineSession.refusedDeltas, until: 300)
        },
        EngineScenario("delta updates of one of two variants can never be applied") { session in
            session.playlists["high.m3u8"] = EngineSession.refusedDeltas
            session.playlists["low.m3u8"] = EngineSession.windows("low", 60)
            session.playLadder(until: 100)
        },
        EngineScenario("a paused live stream uses no network", { $0.usesNetworkWhilePaused = false }) { session in
            session.playLive(EngineSession.windows("v", 9), until: 4)
            session.setRate(0)
            session.run(until: 30)
            session.seek(to: 20)
            session.run(until: 40)
            session.setRate(1)
            session.run(until: 44)
        },
        EngineScenario(
            "a live stream that is held uses the network",
            {
                $0.usesNetworkWhilePaused = false
                $0.isHeld = true
            }
        ) { session in
            session.playLive(EngineSession.windows("v", 9), until: 4)
            session.setRate(0)
            session.run(until: 12)
        },
        EngineScenario("a seek to segments that are not listed yet", { $0.usesNetworkWhilePaused = false }) { session in
            session.playLive([EngineSession.live("v", 0)] + EngineSession.windows("v", 9).dropFirst(3), until: 4)
            session.setRate(0)
            session.seek(to: 99)
            session.run(until: 20)
        },
        EngineScenario("the window moves past the playhead") { session in
            session.playLive([EngineSession.live("v", 0), EngineSession.live("v", 20)], until: 14)
        },
        EngineScenario("the window starts again") { session in
            session.playLive([EngineSession.live("v", 50), EngineSession.live("v", 0)], until: 30)
        },
        EngineScenario("the live audio playlist does not change") { session in
            session.playlists["low.m3u8"] = EngineSession.windows("low", 40)
            session.playlists["high.m3u8"] = EngineSession.windows("high", 40)
            session.playlists["en.m3u8"] = [EngineSession.live("en", 0)]
            session.playSeparate(
                EngineSession.separate.replacing(",SUBTITLES=\"s\"", with: ""),
                until: 90
            )
        },
        EngineScenario("date ranges of a live playlist") { session in
            let range = """
                #EXT-X-DATERANGE:ID="r",START-DATE="2026-03-01T00:00:06Z",DURATION=3
                #EXT-X-DATERANGE:ID="i",CLASS="com.apple.hls.interstitial",START-DATE="2026-03-01T00:00:12Z",X-ASSET-URI="a"

                """
            session.playLive(
                [
                    EngineSession.live("v", 0, 4, dated: true),
                    EngineSession.live("v", 1, 4, range, dated: true),
                ],
                until: 9
            )
        },
    ]

    static let recovery: [EngineScenario] = [
        EngineScenario("a segment is missing") { session in
            session.outcomes["v1.ts"] = [.status(404)]
            session.playVOD(until: 6)
        },
        EngineScenario("a segment of a live stream appears late") { session in
            session.outcomes["v3.ts"] = [.status(404), .status(404), .loaded]
            session.playLive(EngineSession.windows("v", 9), until: 8)
        },
        EngineScenario("five segments in a row are missing") { session in
            for number in 1..<6 { session.outcomes["v\(number).ts"] = [.status(404)] }
            session.playVOD(8, until: 40)
            session.setRate(0)
            session.setRate(1)
            session.run(until: 50)
        },
        EngineScenario("all segments are missing") { session in
            for number in 0..<8 { session.outcomes["v\(number).ts"] = [.status(404)] }
            session.playVOD(3, until: 20)
        },
        EngineScenario("a server is busy, and asks to be left alone") { session in
            session.outcomes["v1.ts"] = [.status(503, retryAfter: 5), .status(429), .loaded]
            session.outcomes["v2.ts"] = [.status(503, retryAfter: 500), .loaded]
            session.playVOD(until: 60)
        },
        EngineScenario("a server is busy for ever", { $0.patience = .seconds(20) }) { session in
            session.outcomes["v1.ts"] = [.status(503)]
            session.playVOD(until: 60)
        },
        EngineScenario("the network is gone for a while") { session in
            session.outcomes["v1.ts"] = [.unreachable, .unreachable, .loaded]
            session.playVOD(until: 12)
        },
        EngineScenario("the network is gone for ever", { $0.patience = .seconds(9) }) { session in
            session.outcomes["v1.ts"] = [.unreachable]
            session.playVOD(until: 40)
            session.setRate(0)
            session.setRate(1)
        },
        EngineScenario("the network is gone before the first segment", { $0.patience = .seconds(9) }) { session in
            session.outcomes["v0.ts"] = [.unreachable]
            session.playVOD(until: 40)
        },
        EngineScenario("a segment is damaged") { session in
            session.outcomes["v1.ts"] = [.notDecodable]
            session.playVOD(until: 6)
        },
        EngineScenario("a key is refused") { session in
            session.outcomes["v2.ts"] = [.keyRefused]
            session.playVOD(until: 30)
        },
        EngineScenario("the first key is refused") { session in
            session.outcomes["v0.ts"] = [.keyRefused]
            session.playVOD(until: 30)
            session.stop()
        },
        EngineScenario("the decoder is lost") { session in
            session.outcomes["v2.ts"] = [.decoderLost]
            session.playVOD(until: 30)
        },
        EngineScenario("a segment that one variant lacks comes from another") { session in
            session.outcomes["high1.ts"] = [.status(404)]
            session.playLadder(until: 6)
        },
        EngineScenario("a variant that lacks two segments is excluded for a while") { session in
            for number in [1, 2] { session.outcomes["high\(number).ts"] = [.status(404)] }
            session.playLadder(EngineSession.ladder, 20, until: 90)
        },
        EngineScenario("a segment that no variant has") { session in
            for name in ["low", "high"] { session.outcomes["\(name)1.ts"] = [.status(404)] }
            session.playLadder(until: 8)
        },
        EngineScenario("the playlist of a variant is missing") { session in
            session.outcomes["high.m3u8"] = [.status(404)]
            session.playLadder(until: 6)
        },
        EngineScenario("the playlists of all variants are missing") { session in
            for name in ["low", "high"] { session.outcomes["\(name).m3u8"] = [.status(404)] }
            session.playLadder(until: 6)
        },
        EngineScenario("the playlists cannot be reached for a while") { session in
            session.outcomes["v.m3u8"] = [.unreachable, .unreachable, .unreachable, .loaded]
            session.playlists["v.m3u8"] = [EngineSession.vod("v")]
            session.playlists["main.m3u8"] = ["#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"]
            session.start("main.m3u8")
            session.setRate(1)
            session.run(until: 16)
        },
        EngineScenario("the playlists can never be reached", { $0.patience = .seconds(9) }) { session in
            session.outcomes["v.m3u8"] = [.unreachable]
            session.playlists["main.m3u8"] = ["#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"]
            session.start("main.m3u8")
            session.setRate(1)
            session.run(until: 60)
        },
        EngineScenario("a variant is at another location too") { session in
            session.outcomes["low1.ts"] = [.status(404)]
            session.playSeparate(EngineSession.redundant, until: 6)
        },
        EngineScenario("a segment is a gap in one variant") { session in
            session.playlists["high.m3u8"] = [EngineSession.vod("high", 6, [1: "#EXT-X-GAP"])]
            session.playLadder(until: 8)
        },
        EngineScenario("a segment is a gap in all variants") { session in
            session.playVOD(4, [1: "#EXT-X-GAP"], until: 25)
        },
        EngineScenario("playback backwards over a gap", { $0.startTime = MediaTime(seconds: 23) }) { session in
            session.playVOD(5, [2: "#EXT-X-GAP"], until: 4)
            session.setRate(-1)
            session.run(until: 32)
        },
        EngineScenario("all segments are gaps") { session in
            session.playVOD(2, [0: "#EXT-X-GAP", 1: "#EXT-X-GAP"], until: 25)
        },
        EngineScenario("the transfer never ends") { session in
            session.outcomes["v1.ts"] = [EngineSession.Outcome.none]
            session.playVOD(until: 20)
        },
        EngineScenario("attempts fail and are repeated aside") { session in
            session.playVOD(until: 3)
            session.completeRequestsAside()
            session.run(until: 4)
        },
        EngineScenario("a server fails with statuses of its own") { session in
            session.outcomes["v1.ts"] = [.status(520), .loaded]
            session.outcomes["v2.ts"] = [.status(507), .loaded]
            session.outcomes["v3.ts"] = [.status(501), .loaded]
            session.playVOD(until: 40)
        },
    ]
}

// MARK: - Live offset, buffer and variants

extension EngineScenario {
    static let live: [EngineScenario] = [
        EngineScenario("playback starts at the recommended distance from the live edge") { session in
            session.playLive([EngineSession.live("v", 0, 8)] + EngineSession.windows("v", 20).dropFirst(5), until: 12)
        },
        EngineScenario(
            "the distance is corrected",
            {
                $0.preservesTimeOffsetFromLive = true
                $0.timeOffsetFromLive = MediaTime(seconds: 30)
            }
        ) { session in
            session.playLive(
                [EngineSession.live("v", 0, 8)] + (1..<30).map { EngineSession.live("v", $0, 8) },
                until: 8
            )
            session.update { $0.timeOffsetFromLive = MediaTime(seconds: 25) }
            session.run(until: 16)
            session.update { $0.preservesTimeOffsetFromLive = false }
            session.run(until: 20)
        },
        EngineScenario("a higher rate meets the live edge") { session in
            session.playLive(
                [EngineSession.live("v", 0, 8)] + (1..<30).map { EngineSession.live("v", $0, 8) },
                until: 6
            )
            session.setRate(4)
            session.run(until: 14)
        },
        EngineScenario("a seek is limited to the window") { session in
            session.playLive(
                [EngineSession.live("v", 0, 8)] + (1..<30).map { EngineSession.live("v", $0, 8) },
                until: 6
            )
            session.seek(to: 99, waiter: 1)
            session.run(until: 9)
            session.seek(to: 0, waiter: 2)
            session.run(until: 12)
        },
        EngineScenario("playback backwards meets the start of the window") { session in
            session.playLive(
                [EngineSession.live("v", 0, 8)] + (1..<30).map { EngineSession.live("v", $0, 8) },
                until: 6
            )
            session.setRate(-1)
            session.run(until: 30)
        },
    ]

    static let buffer: [EngineScenario] = [
        EngineScenario("the buffer is filled as it is played") { $0.playVOD(14, until: 24) },
        EngineScenario("the application sets the duration", { $0.preferredForwardBufferDuration = .seconds(8) }) {
            session in
            session.playVOD(until: 12)
            session.update { $0.preferredForwardBufferDuration = .seconds(20) }
            session.run(until: 16)
        },
        EngineScenario("the size of the buffer is limited", { $0.bufferByteLimit = ByteCount(2_500_000) }) { session in
            session.playVOD(until: 26)
        },
        EngineScenario(
            "the back buffer is limited",
            {
                $0.backBufferDuration = .seconds(7)
                $0.preferredForwardBufferDuration = .seconds(8)
            }
        ) { session in
            session.playVOD(until: 30)
        },
        EngineScenario(
            "the size of the back buffer is limited",
            {
                $0.backBufferByteLimit = ByteCount(1_500_000)
                $0.preferredForwardBufferDuration = .seconds(8)
            }
        ) { session in
            session.playVOD(until: 30)
        },
        EngineScenario("media far ahead is removed if memory is short", { $0.bufferByteLimit = ByteCount(4_500_000) }) {
            session in
            session.playVOD(30, until: 5)
            session.seek(to: 120, waiter: 1)
            session.run(until: 9)
            session.seek(to: 1, waiter: 2)
            session.run(until: 14)
        },
        EngineScenario("playback stalls and goes on") { session in
            session.transferTimes["v2"] = 20
            session.playVOD(until: 30)
        },
        EngineScenario("a higher rate moves the next request forward") { session in
            session.playVOD(14, until: 9)
            session.setRate(4)
            session.run(until: 14)
        },
        EngineScenario("a list of segments has a gap") { session in
            session.playVOD(4, [2: "#EXT-X-DISCONTINUITY"], until: 20)
        },
    ]

    static let variants: [EngineScenario] = [
        EngineScenario("the bit rate follows the throughput") { session in
            session.segmentSize = 300_000
            session.transferTimes["low"] = 0.2
            session.playLadder(EngineSession.ladder, 12, until: 20)
        },
        EngineScenario("a segment of the former variant is fetched while the next playlist is loaded") { session in
            session.segmentSize = 400_000
            session.transferTimes["low"] = 0.2
            session.transferTimes["low.m3u8"] = 0.1
            session.transferTimes["high.m3u8"] = 30
            session.playLadder(EngineSession.ladder, 12, until: 45)
        },
        EngineScenario("the playlist of the next variant is missing") { session in
            session.segmentSize = 400_000
            session.transferTimes["low"] = 0.2
            session.outcomes["high.m3u8"] = [.status(404)]
            session.playLadder(EngineSession.ladder, 12, until: 12)
        },
        EngineScenario("a slow transfer is abandoned for a lower variant") { session in
            session.segmentSize = 2_000_000
            session.transferTimes["high3"] = 90
            session.playLadder(EngineSession.ladder, 12, until: 40)
        },
        EngineScenario("the first variant of the playlist", { $0.startsOnFirstEligibleVariant = true }) { session in
            session.playLadder(until: 3)
        },
        EngineScenario("a variant is pinned at once", { $0.pinning = .atOnce }) { session in
            session.playLadder(until: 5)
            let low = session.state.control.plan.catalog.presentation?.variants.first
            session.update { $0.pinnedVariant = low?.id.text }
            session.run(until: 9)
            session.update { $0.pinnedVariant = nil }
            session.run(until: 11)
        },
        EngineScenario("a variant is pinned from the next segment") { session in
            session.playLadder(until: 5)
            let low = session.state.control.plan.catalog.presentation?.variants.first
            session.update { $0.pinnedVariant = low?.id.text }
            session.run(until: 9)
        },
        EngineScenario("a variant is pinned after the buffer", { $0.pinning = .afterBuffer }) { session in
            session.playLadder(until: 5)
            let low = session.state.control.plan.catalog.presentation?.variants.first
            session.update { $0.pinnedVariant = low?.id.text }
            session.run(until: 9)
            session.update { $0.pinnedVariant = "unknown" }
            session.run(until: 10)
        },
        EngineScenario("the pinned variant lacks its playlist", { $0.pinning = .atOnce }) { session in
            session.outcomes["low.m3u8"] = [.status(404)]
            session.playLadder(until: 5)
            let low = session.state.control.plan.catalog.presentation?.variants.first
            session.update { $0.pinnedVariant = low?.id.text }
            session.run(until: 9)
        },
        EngineScenario("too many frames are dropped") { session in
            session.playLadder(EngineSession.ladder, 30, until: 5)
            for second in 1..<30 {
                session.observation.frameCounts = FrameCounts(decoded: second * 25, dropped: second * 12, discarded: 0)
                session.run(until: 5 + Double(second))
            }
        },
        EngineScenario("a limit of the bit rate") { session in
            session.playLadder(EngineSession.ladder, 12, until: 3)
            session.update { $0.preferredPeakBitRate = BitRate(bitsPerSecond: 600_000) }
            session.run(until: 8)
        },
        EngineScenario("the variants are listed for other times") { session in
            session.playlists["low.m3u8"] = [EngineSession.vod("low", 9, duration: "4")]
            session.playLadder(until: 3)
            session.update { $0.preferredPeakBitRate = BitRate(bitsPerSecond: 600_000) }
            session.run(until: 9)
        },
    ]
}

extension EngineSession {
    /// A live playlist, followed by delta updates that skip segments that were never listed.
    static var refusedDeltas: [String] {
        let control = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36\n"
        let delta =
            "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:50\n\(control)"
            + "#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n#EXTINF:6,\nhigh53.ts\n"
        return [live("high", 0, 4, control), delta]
    }
}
