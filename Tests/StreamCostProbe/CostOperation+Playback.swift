import CostOperations
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine

extension CostOperation {
    private static let base = "https://h/v/"

    /// The operations that play presentations with the playback engine in simulated time.
    static var playback: [CostOperation] {
        [
            played("segments", size: 20) { count in
                ["top.m3u8": [onDemand(count)]]
            },
            played("encrypted-segments", size: 20) { count in
                ["top.m3u8": [onDemand(count) { "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"\($0).key\"\n" }]]
            },
            played("segments-with-discontinuities-and-dates", size: 20) { count in
                [
                    "top.m3u8": [
                        onDemand(count) {
                            "#EXT-X-DISCONTINUITY\n#EXT-X-PROGRAM-DATE-TIME:\(PlaylistShape.date($0))\n"
                        }
                    ]
                ]
            },
            played("segments-of-a-long-playlist", size: 200, end: 12) { count in ["top.m3u8": [onDemand(count)]] },
            played("gaps", size: 40) { count in
                ["top.m3u8": [onDemand(count) { $0 > 0 && $0 < count - 1 ? "#EXT-X-GAP\n" : "" }]]
            },
            played("date-ranges", size: 40, end: 12) { count in
                let ranges = repeated(count) {
                    "#EXT-X-DATERANGE:ID=\"d\($0)\",START-DATE=\"\(PlaylistShape.date($0))\"\n"
                }
                return [
                    "top.m3u8": [
                        onDemand(4) { $0 == 0 ? ranges + "#EXT-X-PROGRAM-DATE-TIME:\(PlaylistShape.date(0))\n" : "" }
                    ]
                ]
            },
            played("variants", size: 40, end: 12) { count in
                presentation("#EXTM3U\n" + repeated(count, PlaylistShape.variant), count)
            },
            played("variants-of-one-address", size: 40, end: 12) { count in
                presentation(
                    "#EXTM3U\n" + repeated(count) { "#EXT-X-STREAM-INF:BANDWIDTH=\(90_000 + $0)\nv0.m3u8\n" },
                    1
                )
            },
            played("locations-of-one-variant", size: 40, end: 12) { count in
                presentation(
                    "#EXTM3U\n" + repeated(count) { "#EXT-X-STREAM-INF:BANDWIDTH=90000\nv\($0).m3u8\n" },
                    count
                )
            },
            played("renditions", size: 40, end: 12) { count in
                let renditions = repeated(count) {
                    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\($0)\",LANGUAGE=\"l\($0)\",URI=\"v\($0).m3u8\"\n"
                }
                return presentation(
                    "#EXTM3U\n" + renditions + "#EXT-X-STREAM-INF:BANDWIDTH=90000,AUDIO=\"g\"\nv0.m3u8\n",
                    count
                )
            },
            played("live-window", size: 20) { count in
                let versions = (0..<count).map { first in
                    "#EXTM3U\n" + PlaylistShape.header + "#EXT-X-MEDIA-SEQUENCE:\(first)\n"
                        + repeated(6) { PlaylistShape.segment(first + $0) }
                        + (first == count - 1 ? PlaylistShape.end : "")
                }
                return ["top.m3u8": versions]
            },
            played("clones-of-variants", size: 20, end: 12) { count in
                let variants = repeated(count) { number in
                    "#EXT-X-STREAM-INF:BANDWIDTH=\(90_000 + number),PATHWAY-ID=\"A\"\nv0.m3u8\n"
                }
                let parameters = repeated(4) { "\"p\($0)\":\"v\"," } + "\"p\":\"v\""
                let clones = (0..<8).map { number in
                    "{\"BASE-ID\":\"A\",\"ID\":\"C\(number)\",\"URI-REPLACEMENT\":{\"PARAMS\":{\(parameters)}}}"
                }
                return steered(variants, pathways: ["\"A\""], clones: clones)
            },
            played("pathways", size: 40, end: 12) { count in
                let variants = repeated(count) { number in
                    "#EXT-X-STREAM-INF:BANDWIDTH=90000,PATHWAY-ID=\"P\(number)\"\nv0.m3u8\n"
                }
                return steered(variants, pathways: (0..<count).map { "\"P\($0)\"" }, clones: [])
            },
            played("live-window-of-a-long-playlist", size: 100, end: 8) { count in
                let versions = (0..<4).map { first in
                    "#EXTM3U\n" + PlaylistShape.header + "#EXT-X-MEDIA-SEQUENCE:\(first)\n"
                        + repeated(count) { PlaylistShape.segment(first + $0) } + (first == 3 ? PlaylistShape.end : "")
                }
                return ["top.m3u8": versions]
            },
        ]
    }

    private static func onDemand(_ count: Int, _ more: (Int) -> String = { _ in "" }) -> String {
        "#EXTM3U\n" + PlaylistShape.header + repeated(count) { more($0) + PlaylistShape.segment($0) }
            + PlaylistShape.end
    }

    private static func presentation(_ top: String, _ count: Int) -> [String: [String]] {
        var texts = ["top.m3u8": [top]]
        for number in 0..<count { texts["v\(number).m3u8"] = [onDemand(4)] }
        return texts
    }

    /// Returns the texts of a presentation with a steering manifest.
    ///
    /// - Parameters:
    ///   - variants: The lines of the variants, which have one media playlist.
    ///   - pathways: The identifiers of the pathways in JSON, the most preferred one first.
    ///   - clones: The clones of pathways in JSON.
    /// - Returns: The texts, by name.
    private static func steered(_ variants: String, pathways: [String], clones: [String]) -> [String: [String]] {
        let id = pathways.first ?? ""
        var texts = presentation(
            "#EXTM3U\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"steering.json\",PATHWAY-ID=\(id)\n" + variants,
            1
        )
        let priority = "\"PATHWAY-PRIORITY\":[\(pathways.joined(separator: ","))]"
        let derived = "\"PATHWAY-CLONES\":[\(clones.joined(separator: ","))]"
        texts["steering.json"] = ["{\"VERSION\":1,\"TTL\":300,\(priority),\(derived)}"]
        return texts
    }

    /// Returns an operation that plays a presentation to its end, or to a time in seconds.
    private static func played(
        _ name: String,
        size: Int,
        end: Int64? = nil,
        _ texts: @escaping (Int) -> [String: [String]]
    ) -> CostOperation {
        CostOperation("engine/\(name)", size: size) { count in
            var named: [String: [String]] = [:]
            for (name, versions) in texts(count) { named[base + name] = versions }
            let all = named
            return {
                let snapshot = play(MemoryOrigin(all), end.map { MediaTime(seconds: $0) })
                precondition(
                    snapshot.hasPlayedToEnd,
                    "\(name): \(snapshot.status) \(String(describing: snapshot.error))"
                )
            }
        }
    }

    private static func play(_ origin: MemoryOrigin, _ end: MediaTime?) -> PlaybackSnapshot {
        let simulation = Simulation()
        var options = StreamingOptions()
        options.forwardPlaybackEndTime = end
        let engine = PlaybackEngine(
            source: ResourceAddress(base + "top.m3u8"),
            loading: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0), time: simulation, jitter: { 0.5 }),
            pipeline: NonDecodingPipeline(time: simulation),
            options: options,
            time: simulation,
            session: PlaybackSession(id: "cost", start: .zero, startDate: .zero, address: base)
        ) { _ in }
        try? wait {
            try await simulation.run {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await engine.run() }
                    group.addTask {
                        await engine.setRate(1)
                        while simulation.now < .seconds(3_600), !engine.snapshot.hasPlayedToEnd,
                            engine.snapshot.status != .failed
                        {
                            try await simulation.sleep(for: .seconds(4))
                        }
                    }
                    try await group.next()
                    group.cancelAll()
                }
            }
        }
        return engine.snapshot
    }
}
