import HLSPlaylist
import MediaTiming
import PlaybackReporting

@testable import StreamingEngine

// MARK: - Playlists

extension EngineSession {
    /// Returns a multivariant playlist whose variants and audio are on each of the given pathways.
    static func steered(_ pathways: [String] = ["one", "two"], server: String = "steer.json?session=7") -> String {
        var text = "#EXTM3U\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"\(server)\",PATHWAY-ID=\"\(pathways[0])\"\n"
        for pathway in pathways {
            text += "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a-\(pathway)\",NAME=\"English\",LANGUAGE=\"en\",DEFAULT=YES,"
            text += "STABLE-RENDITION-ID=\"english\",URI=\"en-\(pathway).m3u8\"\n"
            for (name, rate, size, profile) in [
                ("low", 500_000, "640x360", "1e"), ("high", 3_000_000, "1280x720", "1f"),
            ] {
                text +=
                    "#EXT-X-STREAM-INF:BANDWIDTH=\(rate),RESOLUTION=\(size),CODECS=\"avc1.4d40\(profile),mp4a.40.2\","
                text += "STABLE-VARIANT-ID=\"\(name)\",AUDIO=\"a-\(pathway)\",PATHWAY-ID=\"\(pathway)\"\n"
                text += "\(name)-\(pathway).m3u8\n"
            }
        }
        return text
    }

    /// Returns a steering manifest.
    static func manifest(_ priority: [String], ttl: Int = 300, _ members: String = "") -> String {
        let list = priority.map { "\"\($0)\"" }.joined(separator: ",")
        return "{\"VERSION\":1,\"TTL\":\(ttl),\"PATHWAY-PRIORITY\":[\(list)]\(members.isEmpty ? "" : ",\(members)")}"
    }

    /// Plays an item with content steering, whose server returns the given manifests one after the other.
    mutating func playSteered(
        _ manifests: [String],
        _ text: String = steered(),
        pathways: [String] = ["one", "two"],
        segments count: Int = 20,
        until seconds: Double
    ) {
        playlists["main.m3u8"] = [text]
        if playlists["steer.json"] == nil { playlists["steer.json"] = manifests }
        for pathway in pathways {
            for name in ["low", "high", "en"] where playlists["\(name)-\(pathway).m3u8"] == nil {
                playlists["\(name)-\(pathway).m3u8"] = [Self.vod("\(name)-\(pathway)-", count)]
            }
        }
        start("main.m3u8")
        setRate(1)
        run(until: seconds)
    }
}

// MARK: - Steering

extension EngineScenario {
    static let steering: [EngineScenario] = [
        EngineScenario("the steering manifest prefers another pathway") { session in
            session.transferTimes["steer"] = 4
            session.playSteered([EngineSession.manifest(["two", "one"])], until: 12)
        },
        EngineScenario("the steering manifest changes the pathway after its time to live") { session in
            session.playlists["steer.json"] = [
                EngineSession.manifest(["one"], ttl: 6, "\"RELOAD-URI\":\"next.json?token=1\"")
            ]
            session.playlists["next.json"] = [EngineSession.manifest(["three", "two"], ttl: 60)]
            session.playSteered([], until: 14)
        },
        EngineScenario("the steering manifest cannot be read") { session in
            session.playSteered(["{\"VERSION\":1}", "no JSON"], until: 8)
        },
        EngineScenario("the preferred pathway fails") { session in
            for name in ["low", "high"] { session.outcomes["\(name)-two-3.ts"] = [.status(404)] }
            session.playSteered([EngineSession.manifest(["two", "one"])], until: 14)
        },
    ]
}
