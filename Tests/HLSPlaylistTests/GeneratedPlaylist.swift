import MediaTiming
import SeededRandomness

/// A randomly generated media playlist together with its expected values.
///
/// It conforms to the standard and varies everything that the standard leaves open: the order of tags, blank lines,
/// comments, unknown tags and line endings.
struct GeneratedMediaPlaylist {
    /// The expected values of a segment.
    struct Segment {
        var uri = ""
        var nanoseconds: Int64 = 0
        var title: String?
        var byteRange: ByteRange?
        var discontinuities: Int64 = 0
        var isGap = false
        var kilobits: Int64?
        var map: String?
        /// The URIs of the keys by key format.
        var keys: [String: String] = [:]
        /// The program date and time, in nanoseconds since 1970.
        var date: Int64?
    }

    let bytes: [UInt8]
    private(set) var segments: [Segment] = []
    private(set) var mediaSequence: Int64 = 0
    private(set) var discontinuitySequence: Int64 = 0
    private(set) var targetDuration: Int64 = 0
    private(set) var hasEndMarker = false

    /// Creates the playlist for the given seed.
    init(seed: UInt64) {
        var writer = PlaylistWriter(seed: seed)
        mediaSequence = writer.choose([0, 1, 7_794, 1 << 40])
        discontinuitySequence = writer.choose([0, 0, 3])
        hasEndMarker = writer.chance(2)
        let isSingleFile = writer.chance(3)
        var current = Segment()
        var body: [[String]] = []
        for position in 0..<writer.number(0...60) {
            body.append(Self.lines(ofSegment: position, &current, isSingleFile: isSingleFile, &writer))
            segments.append(current)
            current.date = current.date.map { $0 + current.nanoseconds }
        }
        targetDuration = max(1, segments.map { ($0.nanoseconds + 500_000_000) / 1_000_000_000 }.max() ?? 1)
        var header = ["#EXT-X-VERSION:8", "#EXT-X-TARGETDURATION:\(targetDuration)"]
        if mediaSequence > 0 || writer.chance(2) { header.append("#EXT-X-MEDIA-SEQUENCE:\(mediaSequence)") }
        if discontinuitySequence > 0 { header.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)") }
        if writer.chance(3) { header.append("#EXT-X-INDEPENDENT-SEGMENTS") }
        if hasEndMarker, writer.chance(2) { header.append("#EXT-X-PLAYLIST-TYPE:VOD") }
        header.append("#EXT-X-DEFINE:NAME=\"host\",VALUE=\"\(PlaylistWriter.host)\"")
        writer.write(["#EXTM3U"], decorated: false)
        writer.write(header.shuffled(using: &writer.generator))
        for lines in body { writer.write(lines) }
        if hasEndMarker { writer.write(["#EXT-X-ENDLIST"]) }
        bytes = writer.bytes
    }

    /// Returns the lines of the next segment.
    ///
    /// `segment` holds the expected values of the previous segment and is updated to those of this one.
    private static func lines(
        ofSegment position: Int,
        _ segment: inout Segment,
        isSingleFile: Bool,
        _ writer: inout PlaylistWriter
    ) -> [String] {
        var tags: [String] = []
        let previous = segment
        segment.title = writer.chance(3) ? writer.choose(PlaylistWriter.titles) : nil
        let digits = writer.number(0...9)
        segment.nanoseconds = writer.decimal(digits: digits)
        tags.append("#EXTINF:\(writer.text(segment.nanoseconds, digits: digits)),\(segment.title ?? "")")
        let uri = isSingleFile || writer.chance(2) ? "all.mp4" : "\(position)-\(writer.choose(PlaylistWriter.names))"
        let isElsewhere = !isSingleFile && writer.chance(8)
        segment.uri = (isElsewhere ? PlaylistWriter.host : "") + uri
        segment.byteRange = nil
        if isSingleFile || writer.chance(2) {
            let length = Int64(writer.number(0...1_000_000))
            let follows = previous.uri == segment.uri ? previous.byteRange?.end : nil
            if let follows, !writer.chance(isSingleFile ? 30 : 2) {
                segment.byteRange = ByteRange(start: follows, length: length)
                tags.append("#EXT-X-BYTERANGE:\(length)")
            } else {
                let start = Int64(writer.number(0...1_000_000))
                segment.byteRange = ByteRange(start: start, length: length)
                tags.append("#EXT-X-BYTERANGE:\(length)@\(start)")
            }
        }
        if writer.chance(8) {
            segment.discontinuities += 1
            tags.append("#EXT-X-DISCONTINUITY")
        }
        segment.isGap = writer.chance(10)
        if segment.isGap { tags.append("#EXT-X-GAP") }
        if writer.chance(6) {
            let kilobits = Int64(writer.number(1...9_000))
            segment.kilobits = kilobits
            tags.append("#EXT-X-BITRATE:\(kilobits)")
        }
        // An MPEG-4 fragment requires an initialization section (RFC 8216bis §3.1.2).
        let needsMap = uri.contains(".m4s") && segment.map == nil && !segment.isGap
        if needsMap || writer.chance(6) {
            segment.map = "init\(position).mp4"
            tags.append("#EXT-X-MAP:" + writer.attributes(["URI=\"init\(position).mp4\"", "BYTERANGE=\"700@0\""]))
        }
        if writer.chance(6) { tags.append(Self.key(position, &segment, &writer)) }
        if writer.chance(8) {
            let date = Int64(1_700_000_000 + position * 86_400)
            segment.date = date * 1_000_000_000 + 250_000_000
            tags.append("#EXT-X-PROGRAM-DATE-TIME:\(PlaylistWriter.text(date)).25Z")
        }
        return tags.shuffled(using: &writer.generator) + [(isElsewhere ? "{$host}" : "") + uri]
    }

    private static func key(_ position: Int, _ segment: inout Segment, _ writer: inout PlaylistWriter) -> String {
        if writer.chance(4) {
            segment.keys = [:]
            return "#EXT-X-KEY:METHOD=NONE"
        }
        let format = writer.choose(["identity", "com.apple.streamingkeydelivery", "urn:uuid:edef8ba9"])
        let uri = "key\(position)?a,b=\(position)"
        segment.keys[format] = uri
        var attributes = ["METHOD=SAMPLE-AES", "URI=\"\(uri)\"", "IV=0x0123456789ABCDEF0123456789ABCDEF"]
        if format != "identity" { attributes.append("KEYFORMAT=\"\(format)\"") }
        return "#EXT-X-KEY:" + writer.attributes(attributes)
    }
}

/// A randomly generated multivariant playlist together with its expected values.
struct GeneratedMultivariantPlaylist {
    /// The expected values of a variant.
    struct Variant: Equatable {
        var uri: String
        var bandwidth: Int64
        var resolution: String?
        var codecs: [String]
        var audio: String?
    }

    /// The expected values of a rendition.
    struct Rendition: Equatable {
        var groupID: String
        var name: String
        var uri: String?
        var isDefault: Bool
    }

    let bytes: [UInt8]
    private(set) var variants: [Variant] = []
    private(set) var iFrameVariants: [Variant] = []
    private(set) var renditions: [Rendition] = []

    /// Creates the playlist for the given seed.
    init(seed: UInt64) {
        var writer = PlaylistWriter(seed: seed)
        var entries: [[String]] = []
        let groups = (0..<writer.number(0...3)).map { "group \($0), also" }
        // All groups of one type must contain the same renditions.
        let names = (0..<writer.number(1...4)).map { number in
            "\(number) \(writer.choose(PlaylistWriter.unquoted(PlaylistWriter.titles)))"
        }
        for (position, group) in groups.enumerated() {
            for (number, name) in names.enumerated() {
                let rendition = Rendition(
                    groupID: group,
                    name: name,
                    uri: writer.chance(4) ? nil : "\(position)/\(number).m3u8",
                    isDefault: number == 0
                )
                renditions.append(rendition)
                var attributes = ["TYPE=AUDIO", "GROUP-ID=\"\(group)\"", "NAME=\"\(rendition.name)\""]
                if let uri = rendition.uri { attributes.append("URI=\"\(uri)\"") }
                attributes.append("DEFAULT=\(rendition.isDefault ? "YES" : "NO")")
                entries.append(["#EXT-X-MEDIA:" + writer.attributes(attributes)])
            }
        }
        for number in 0..<writer.number(1...12) {
            let variant = Variant(
                uri: "v\(number)/\(writer.choose(PlaylistWriter.unquoted(PlaylistWriter.names)))",
                bandwidth: Int64(writer.number(1...80_000_000)),
                resolution: writer.chance(3) ? nil : "\(writer.number(2...8_000))x\(writer.number(2...8_000))",
                codecs: writer.chance(4) ? [] : ["avc1.4d401f", "mp4a.40.2"],
                audio: groups.randomElement(using: &writer.generator)
            )
            var attributes = ["BANDWIDTH=\(variant.bandwidth)", "X-OTHER=\"a,b=c\""]
            if let resolution = variant.resolution { attributes.append("RESOLUTION=\(resolution)") }
            if !variant.codecs.isEmpty { attributes.append("CODECS=\"\(variant.codecs.joined(separator: ","))\"") }
            if writer.chance(4) {
                var other = variant
                other.audio = nil
                iFrameVariants.append(other)
                attributes.append("URI=\"\(variant.uri)\"")
                entries.append(["#EXT-X-I-FRAME-STREAM-INF:" + writer.attributes(attributes)])
            } else {
                if let audio = variant.audio { attributes.append("AUDIO=\"\(audio)\"") }
                variants.append(variant)
                entries.append(["#EXT-X-STREAM-INF:" + writer.attributes(attributes), variant.uri])
            }
        }
        writer.write(["#EXTM3U"], decorated: false)
        writer.write(["#EXT-X-VERSION:12", "#EXT-X-INDEPENDENT-SEGMENTS"].shuffled(using: &writer.generator))
        for lines in entries { writer.write(lines) }
        bytes = writer.bytes
    }
}

/// Writes a playlist and varies everything that the standard leaves open.
private struct PlaylistWriter {
    var generator: SeededGenerator
    private(set) var bytes: [UInt8] = []
    private let lineEnds: [String]

    static let host = "https://cdn.example/"
    static let names = ["a.ts", "b.m4s?t=1,2&u=\"x\"", "dir/../c.ts", "한국어.ts", "my%20file.ts", "e.ts#fragment"]
    static let titles = ["one", "A, with a comma", "quoted \"text\"", "한국어", "=#:@", "tvg-id=\"a\""]

    /// Returns the texts without quotation marks, which are valid in a quoted string.
    static func unquoted(_ texts: [String]) -> [String] { texts.filter { !$0.contains("\"") } }

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        lineEnds = [["\n"], ["\r\n"], ["\n", "\r\n"]].randomElement(using: &generator) ?? []
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// Returns true with a probability of one in the given number.
    mutating func chance(_ times: Int) -> Bool { number(1...times) == 1 }

    mutating func choose<Element>(_ elements: [Element]) -> Element {
        elements[number(0...(elements.count - 1))]
    }

    /// Returns a random duration, in nanoseconds, that has at most the given number of fractional digits.
    mutating func decimal(digits: Int) -> Int64 {
        let unit = DecimalDigits.power(of: 9 - digits)
        return Int64(number(0...12)) * 1_000_000_000 + Int64(number(0...999_999_999)) / unit * unit
    }

    /// Returns nanoseconds as decimal seconds with the given number of fractional digits.
    func text(_ nanoseconds: Int64, digits: Int) -> String {
        let (whole, part) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        // With `digits` equal to zero, `decimal(digits:)` has already removed the fraction.
        guard digits > 0 else { return "\(whole)" }
        return "\(whole)." + String(String(part + 1_000_000_000).dropFirst().prefix(digits))
    }

    /// Returns an ISO 8601 date without its zone, computed independently of the code under test.
    static func text(_ secondsSinceEpoch: Int64) -> String {
        var days = Int(secondsSinceEpoch / 86_400)
        let second = Int(secondsSinceEpoch % 86_400)
        var year = 1970
        func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
        while days >= (isLeap(year) ? 366 : 365) {
            days -= isLeap(year) ? 366 : 365
            year += 1
        }
        var month = 0
        let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        while days >= lengths[month] {
            days -= lengths[month]
            month += 1
        }
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(padded(month + 1))-\(padded(days + 1))"
            + "T\(padded(second / 3_600)):\(padded(second / 60 % 60)):\(padded(second % 60))"
    }

    /// Returns an attribute list in random order.
    mutating func attributes(_ attributes: [String]) -> String {
        attributes.shuffled(using: &generator).joined(separator: ",")
    }

    /// Appends lines and inserts insignificant lines between them at random.
    mutating func write(_ lines: [String], decorated: Bool = true) {
        for line in lines {
            if decorated, chance(10) { append(choose(["", "# a comment", "#EXT-X-CUE-OUT:30", "#", "##EXTINF:1,"])) }
            append(line)
        }
    }

    private mutating func append(_ line: String) { bytes += Array((line + choose(lineEnds)).utf8) }
}
