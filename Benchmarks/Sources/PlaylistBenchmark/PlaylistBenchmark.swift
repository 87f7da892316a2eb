import CLimits
import HLSPlaylist

/// Times the parser beside the limits of the machine in one interleaved run: absolute times drift, ratios do not.
@main enum PlaylistBenchmark {
    static func main() throws {
        let rounds = 15
        var offsets = [UInt32](repeating: 0, count: 100_000)
        var durations = [Double](repeating: 0, count: 100_000)
        var times: [String: [Duration]] = [:]
        var checksum = 0
        func time(_ name: String, _ body: () throws -> Int) rethrows {
            let start = ContinuousClock.now
            checksum &+= try body()
            times[name, default: []].append(ContinuousClock.now - start)
        }
        for _ in 0..<rounds {
            time("memchr over the lines") { limit_lines(Inputs.vod, Inputs.vod.count) }
            time("one-pass C parser") {
                limit_one_pass(Inputs.vod, Inputs.vod.count, &offsets, &durations, offsets.count).segments
            }
            try time("vod") { try Self.parse(Inputs.vod) }
            try time("vod, every segment read") { try Self.readAll(Inputs.vod) }
            try time("multi") { try Self.parse(Inputs.multi) }
            try time("ll") { try Self.parse(Inputs.lowLatency) }
        }
        let limit = median(times["one-pass C parser"] ?? [])
        print(
            "median of \(rounds) interleaved rounds; vod \(Inputs.vod.count) bytes, multi \(Inputs.multi.count), "
                + "ll \(Inputs.lowLatency.count); checksum \(checksum)"
        )
        for name in ["memchr over the lines", "one-pass C parser", "vod", "vod, every segment read", "multi", "ll"] {
            let time = median(times[name] ?? [])
            let milliseconds = (time / .microseconds(1)).rounded() / 1000
            let ratio = ((time / limit) * 1000).rounded() / 1000
            let padding = String(repeating: " ", count: 26 - name.count)
            print("\(name)\(padding)\(milliseconds) ms, \(ratio) times the C parser on vod")
        }
    }

    private static func parse(_ bytes: [UInt8]) throws -> Int {
        switch try Playlist.parse(bytes) {
        case .media(let playlist): playlist.segments.count
        case .multivariant(let playlist): playlist.variants.count
        }
    }

    private static func readAll(_ bytes: [UInt8]) throws -> Int {
        guard case .media(let playlist) = try Playlist.parse(bytes) else { return 0 }
        return playlist.segments.reduce(0) { $0 &+ $1.uri.utf8.count }
    }

    private static func median(_ times: [Duration]) -> Duration {
        times.sorted()[times.count / 2]
    }
}
