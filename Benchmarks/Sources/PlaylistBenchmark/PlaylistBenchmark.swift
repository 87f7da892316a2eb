import CLimits
import HLSPlaylist

/// Measures the parser and the limits of the machine in interleaved rounds, because absolute times drift, but ratios do
/// not.
@main struct PlaylistBenchmark {
    private static let rounds = 15
    private static let limitName = "one-pass C parser on vod"
    /// The maximum time of a measurement, as a multiple of the time of the C parser.
    private static let maximumRatios = ["vod, every segment read": 6.0, "vod, validated": 20.0]

    private var names: [String] = []
    private var times: [String: [Duration]] = [:]
    private var sizes: [String: Int] = [:]
    private var checksum = 0

    static func main() throws {
        var benchmark = PlaylistBenchmark()
        let before = try MediaPlaylist(parsing: Inputs.live.0)
        for _ in 0..<rounds { try benchmark.round(before) }
        benchmark.report()
        try Self.reportMemory("vod", Inputs.vod)
        try Self.reportMemory("multi", Inputs.multi)
        try Self.reportMemory("ll", Inputs.lowLatency)
    }

    private mutating func round(_ before: MediaPlaylist) throws {
        var offsets = [UInt32](repeating: 0, count: 100_000)
        var durations = [Double](repeating: 0, count: 100_000)
        let (vod, multi, parts) = (Inputs.vod, Inputs.multi, Inputs.lowLatency)
        time("memchr over the lines of vod", vod.count) { limit_lines(vod, vod.count) }
        time(Self.limitName, vod.count) {
            limit_one_pass(vod, vod.count, &offsets, &durations, offsets.count).segments
        }
        try time("vod", vod.count) { try Self.parse(vod) }
        try time("vod, parsed and written", vod.count) { try Playlist.parse(vod).bytes.count }
        try time("vod, every segment read", vod.count) { try Self.readAll(vod) }
        try time("vod, one segment later", Inputs.live.1.count) {
            try MediaPlaylist(parsing: Inputs.live.1, after: before).segments.count
        }
        try time("vod, validated", vod.count) { try Playlist.parse(vod).validated().count }
        try time("multi", multi.count) { try Self.parse(multi) }
        try time("multi, ten times as long", Inputs.longMulti.count) { try Self.parse(Inputs.longMulti) }
        try time("multi, every entry read", multi.count) { try Self.readEntries(multi) }
        try time("ll", parts.count) { try Self.parse(parts) }
        try time("ll, every part read", parts.count) { try Self.readParts(parts) }
    }

    private mutating func time(_ name: String, _ bytes: Int, _ body: () throws -> Int) rethrows {
        if times[name] == nil {
            names.append(name)
            sizes[name] = bytes
        }
        let start = ContinuousClock.now
        checksum &+= try body()
        times[name, default: []].append(ContinuousClock.now - start)
    }

    // MARK: Measured operations

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

    // MARK: Results

    private func report() {
        let limit = Self.median(times[Self.limitName] ?? [])
        print("median of \(Self.rounds) interleaved rounds; checksum \(checksum)")
        print(Self.row("", "ms", "MB/s", "of the C parser", "at most"))
        for name in names {
            let time = Self.median(times[name] ?? [])
            let speed = Double(sizes[name] ?? 0) / (time / .seconds(1)) / 1e6
            let ratio = time / limit
            let maximum = Self.maximumRatios[name]
            print(
                Self.row(
                    name,
                    Self.rounded(time / .milliseconds(1)),
                    Self.rounded(speed),
                    Self.rounded(ratio),
                    maximum.map { ratio <= $0 ? "\($0)" : "\($0), exceeded" } ?? ""
                )
            )
        }
    }

    private static func reportMemory(_ name: String, _ bytes: [UInt8]) throws {
        allocation_count_begin()
        let playlist = try Playlist.parse(bytes)
        allocation_count_end()
        let counts = allocation_counts_now()
        let kept = counts.live_bytes
        let count = try parse(playlist.bytes)
        print(
            "\(name): \(counts.allocations) allocations, \(kept) bytes in addition to the source "
                + "(\(rounded(Double(kept) / Double(max(count, 1)))) for each of \(count) entries), "
                + "\(counts.peak_bytes) at the most"
        )
    }

    private static func row(_ columns: String...) -> String {
        columns[0] + String(repeating: " ", count: max(1, 32 - columns[0].count))
            + columns.dropFirst().map { String(repeating: " ", count: max(1, 16 - $0.count)) + $0 }.joined()
    }

    private static func rounded(_ number: Double) -> String { "\((number * 1000).rounded() / 1000)" }

    private static func median(_ times: [Duration]) -> Duration {
        times.sorted()[times.count / 2]
    }
}
