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
        var names: [String] = []
        func time(_ name: String, _ body: () throws -> Int) rethrows {
            if times[name] == nil { names.append(name) }
            let start = ContinuousClock.now
            checksum &+= try body()
            times[name, default: []].append(ContinuousClock.now - start)
        }
        let before = try MediaPlaylist(parsing: Inputs.live.0)
        for _ in 0..<rounds {
            time("memchr over the lines") { limit_lines(Inputs.vod, Inputs.vod.count) }
            time("one-pass C parser") {
                limit_one_pass(Inputs.vod, Inputs.vod.count, &offsets, &durations, offsets.count).segments
            }
            try time("vod") { try Self.parse(Inputs.vod) }
            try time("vod, every segment read") { try Self.readAll(Inputs.vod) }
            try time("vod, parsed and written") { try Playlist.parse(Inputs.vod).bytes.count }
            try time("vod, one segment later") {
                try MediaPlaylist(parsing: Inputs.live.1, after: before).segments.count
            }
            try time("multi") { try Self.parse(Inputs.multi) }
            try time("multi, every entry read") { try Self.readEntries(Inputs.multi) }
            try time("ll") { try Self.parse(Inputs.lowLatency) }
            try time("ll, every part read") { try Self.readParts(Inputs.lowLatency) }
        }
        let limit = median(times["one-pass C parser"] ?? [])
        print(
            "median of \(rounds) interleaved rounds; vod \(Inputs.vod.count) bytes, multi \(Inputs.multi.count), "
                + "ll \(Inputs.lowLatency.count); checksum \(checksum)"
        )
        for name in names {
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

    private static func readEntries(_ bytes: [UInt8]) throws -> Int {
        guard case .multivariant(let playlist) = try Playlist.parse(bytes) else { return 0 }
        var sum = 0
        for variant in playlist.variants {
            sum &+= Int(variant.bandwidth?.bitsPerSecond ?? 0) &+ variant.uri.utf8.count &+ variant.codecs.count
            sum &+= variant.resolution?.height ?? 0
        }
        for rendition in playlist.renditions { sum &+= rendition.name.utf8.count &+ (rendition.uri?.utf8.count ?? 0) }
        return sum
    }

    private static func readParts(_ bytes: [UInt8]) throws -> Int {
        guard case .media(let playlist) = try Playlist.parse(bytes) else { return 0 }
        return playlist.segments.reduce(playlist.trailingParts.count) { sum, segment in
            segment.parts.reduce(sum) { $0 &+ Int($1.duration.value) &+ $1.uri.utf8.count }
        }
    }

    private static func readAll(_ bytes: [UInt8]) throws -> Int {
        guard case .media(let playlist) = try Playlist.parse(bytes) else { return 0 }
        return playlist.segments.reduce(0) { sum, segment in
            sum &+ segment.uri.utf8.count &+ Int(segment.duration.value) &+ Int(segment.byteRange?.start ?? 0)
        }
    }

    private static func median(_ times: [Duration]) -> Duration {
        times.sorted()[times.count / 2]
    }
}
