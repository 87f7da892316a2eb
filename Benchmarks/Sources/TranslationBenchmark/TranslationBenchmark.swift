import CLibXML2
import DASHManifest
import DASHTranslation
import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// Measures the translation of manifests beside libxml2 in interleaved rounds, because absolute times drift, but ratios
/// do not.
@main struct TranslationBenchmark {
    private static let rounds = 15
    private static let address = ResourceAddress("https://example.com/live/manifest.mpd")
    /// The maximum times, as multiples of the time in which libxml2 passes the manifest to callbacks that do nothing.
    private static let maximumRatio = 2.0
    /// The maximum share of a processor that refreshes take, one every two seconds.
    private static let maximumShare = 0.01

    private var times: [String: [Double]] = [:]
    private var checksum = 0

    static func main() throws {
        var benchmark = TranslationBenchmark()
        try benchmark.measureLongManifest()
        try benchmark.measureRefreshes()
        print("checksum \(benchmark.checksum)")
    }

    private mutating func measureLongManifest() throws {
        let bytes = BenchmarkManifests.long
        for _ in 0..<Self.rounds {
            time("libxml2") { Self.parseOnly(bytes) }
            try time("parsed") { try MediaPresentation(parsing: bytes.span, address: Self.address).periods.count }
            try time("parsed and translated") {
                let presentation = try MediaPresentation(parsing: bytes.span, address: Self.address)
                var translator = PresentationTranslator()
                let result = try translator.translate(presentation, at: .zero)
                return result.playlists.reduce(result.multivariant.bytes.count) { $0 + $1.bytes.count }
            }
        }
        let limit = median("libxml2")
        print("\(bytes.count) bytes with 170,000 S elements, median of \(Self.rounds) interleaved rounds")
        print("  libxml2 alone: \(Self.rounded(limit * 1_000)) ms")
        for name in ["parsed", "parsed and translated"] {
            print("  \(name): \(Self.rounded(median(name) / limit)) times as long, at most \(Self.maximumRatio)")
        }
    }

    private mutating func measureRefreshes() throws {
        var translator = PresentationTranslator()
        for version in 0...Self.rounds {
            let bytes = BenchmarkManifests.live(version)
            // The first version has no predecessor.
            try time(version == 0 ? "first version" : "refresh") {
                let presentation = try MediaPresentation(parsing: bytes.span, address: Self.address)
                let now = MediaTime(seconds: Int64((850_000_000 + version + BenchmarkManifests.windowLength) * 2 + 1))
                _ = try translator.requiredIndexes(of: presentation, at: now)
                return try translator.translate(presentation, at: now).playlists.reduce(0) { $0 + $1.bytes.count }
            }
        }
        let share = median("refresh") / 2
        print("live window of 2 hours in segments of 2 seconds, 6 representations, a refresh every 2 seconds")
        print("  \(Self.rounded(share * 100)) % of a processor, at most \(Self.maximumShare * 100) %")
    }

    /// Passes a document to callbacks that do nothing, as the parser of this package installs them.
    private static func parseOnly(_ bytes: [UInt8]) -> Int {
        var handler = xmlSAXHandler()
        handler.initialized = XML_SAX2_MAGIC
        handler.startElementNs = { _, _, _, _, _, _, _, _, _ in }
        handler.endElementNs = { _, _, _, _ in }
        handler.characters = { _, _, _ in }
        handler.ignorableWhitespace = handler.characters
        return bytes.withUnsafeBytes { buffer in
            let text = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return Int(xmlSAXUserParseMemory(&handler, nil, text, Int32(clamping: buffer.count)))
        }
    }

    /// Measures the processor time of a function, in seconds.
    private mutating func time(_ name: String, _ body: () throws -> Int) rethrows {
        let start = clock()
        checksum &+= try body()
        // POSIX defines a million clocks per second.
        times[name, default: []].append(Double(clock() - start) / 1_000_000)
    }

    private func median(_ name: String) -> Double {
        let sorted = (times[name] ?? []).sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }

    private static func rounded(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }
}
