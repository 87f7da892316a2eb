import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

@testable import StreamingEngine

// MARK: - Playlists

extension EngineSession {
    /// Returns version `number` of a multivariant playlist whose playlists have other addresses in each version.
    fileprivate static func signed(_ number: Int, hasHigh: Bool = true) -> String {
        let high = """
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,CODECS="avc1.4d401f,mp4a.40.2",AUDIO="a\(number)"
            high\(number).m3u8

            """
        return """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a\(number)",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en\(number).m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="a\(number)"
            low\(number).m3u8

            """ + (hasHigh ? high : "")
    }

    /// Plays an item whose addresses are those of version 1, then those of version 2, and so on.
    fileprivate mutating func playSigned(_ versions: [String], _ count: Int = 12, until seconds: Double) {
        playlists["main.m3u8"] = versions
        for number in 1...3 {
            for name in ["low", "high", "en"] where playlists["\(name)\(number).m3u8"] == nil {
                playlists["\(name)\(number).m3u8"] = [Self.vod("\(name)\(number)-", count)]
            }
        }
        start("main.m3u8")
        setRate(1)
        run(until: seconds)
    }

    /// Denies access to the segments of a version from a number on.
    fileprivate mutating func expire(_ version: Int, from first: Int = 0, status: Int = 403) {
        for name in ["low", "high", "en"] {
            for number in first..<12 { outcomes["\(name)\(version)-\(number).ts"] = [.status(status)] }
        }
    }
}

// MARK: - Renewal

extension EngineScenario {
    static let renewal: [EngineScenario] = [
        EngineScenario("the addresses of segments expire, and are renewed once") { session in
            session.expire(1, from: 3)
            session.playSigned([EngineSession.signed(1), EngineSession.signed(2)], until: 30)
        },
        EngineScenario("the addresses expire twice") { session in
            session.expire(1, from: 2, status: 410)
            session.expire(2, from: 5, status: 401)
            session.playSigned([EngineSession.signed(1), EngineSession.signed(2), EngineSession.signed(3)], until: 40)
        },
        EngineScenario("the new addresses do not work either") { session in
            session.expire(1, from: 3)
            session.expire(2)
            session.playSigned([EngineSession.signed(1), EngineSession.signed(2)], until: 60)
        },
        EngineScenario("the new version cannot be loaded") { session in
            session.expire(1, from: 3)
            session.outcomes["main.m3u8"] = [.loaded, .unreachable]
            session.playSigned([EngineSession.signed(1)], until: 60)
        },
        EngineScenario("the new version lacks the variant that is fetched") { session in
            session.expire(1, from: 3)
            session.playSigned([EngineSession.signed(1), EngineSession.signed(2, hasHigh: false)], until: 60)
        },
        EngineScenario("nothing may be loaded from the beginning") { session in
            for number in 1...3 { session.expire(number) }
            session.playSigned([EngineSession.signed(1), EngineSession.signed(2), EngineSession.signed(3)], until: 60)
        },
        EngineScenario("the address of the playlist of a variant expires before it is loaded") { session in
            session.outcomes["high1.m3u8"] = [.status(403)]
            session.playSigned([EngineSession.signed(1), EngineSession.signed(2)], until: 20)
        },
        EngineScenario("the address of a live playlist expires") { session in
            session.outcomes["low1.m3u8"] = [.loaded, .loaded, .status(403)]
            session.outcomes["en1.m3u8"] = [.loaded, .loaded, .status(403)]
            for name in ["low", "en"] {
                session.playlists["\(name)1.m3u8"] = [0, 1].map { EngineSession.live("\(name)1-", $0) }
                session.playlists["\(name)2.m3u8"] = (2..<6).map { EngineSession.live("\(name)2-", $0) }
            }
            let versions = [1, 2].map { EngineSession.signed($0, hasHigh: false) }
            session.playSigned(versions, until: 30)
        },
        EngineScenario("the segments of a media playlist without variants expire") { session in
            for number in 3..<6 { session.outcomes["v\(number).ts"] = [.status(403), .loaded] }
            session.playVOD(until: 40)
        },
    ]
}
