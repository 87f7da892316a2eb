package import ResourceAddressing

/// A presentation that is generated from the bytes of an input: its playlists, with several versions for reloads.
///
/// The playlists are mostly well formed but contain extreme numbers, unusual orders and dangling references, so that
/// inputs reach the code that runs after the parser.
package struct GeneratedPresentation: Sendable {
    /// The base address of all resources.
    package static let base = "https://origin.example/stream/"

    /// The address of the playlist to load first.
    package let source: ResourceAddress
    /// The versions of each playlist by address; each reload returns the next version, and the last one repeats.
    package private(set) var playlists: [String: [String]] = [:]
    /// The size of media resources, in bytes.
    package let mediaSize: Int
    /// The size of keys, in bytes: 16 in half of the presentations, otherwise a size that is invalid for AES-128.
    package let keySize: Int
    /// The unconsumed decisions, for the code that uses the presentation.
    package var choices: ChoiceReader

    /// The maximum size of a playlist with repeated segments, in bytes.
    private static let maximumSize = 16 << 10

    /// Creates a presentation from an input.
    package init(_ bytes: [UInt8]) {
        var choices = ChoiceReader(bytes)
        mediaSize = choices.element(of: [4_096, 0, 1, 16, 188, 65_536])
        keySize = choices.element(of: [16, 16, 16, 16, 0, 15, 17, 4_096])
        let isMultivariant = !choices.isOne(in: 4)
        source = ResourceAddress(Self.base + (isMultivariant ? "main.m3u8" : "0.m3u8"))
        let mediaCount = isMultivariant ? 1 + choices.number(below: 4) : 1
        if isMultivariant {
            playlists[source.text] = [Self.multivariantPlaylist(&choices, mediaCount)]
        }
        for index in 0..<mediaCount {
            playlists[Self.base + "\(index).m3u8"] = Self.mediaPlaylists(&choices)
        }
        self.choices = choices
    }

    /// All versions of all playlists with their addresses, sorted by address.
    package var texts: [(address: String, text: String)] {
        playlists.sorted { $0.key < $1.key }.flatMap { address, versions in versions.map { (address, $0) } }
    }
}

// MARK: - Multivariant playlists

extension GeneratedPresentation {
    private static func multivariantPlaylist(_ choices: inout ChoiceReader, _ mediaCount: Int) -> String {
        var header = header(&choices, isMedia: false)
        var lines: [String] = []
        let groups = ["a", "a", "b", "", "{$v}"]
        for _ in 0..<choices.number(below: 6) {
            let type = choices.element(of: ["AUDIO", "SUBTITLES", "VIDEO", "CLOSED-CAPTIONS", "AUDIO", "NONE"])
            var line = "#EXT-X-MEDIA:TYPE=\(type),GROUP-ID=\"\(choices.element(of: groups))\""
            line += ",NAME=\"\(choices.element(of: ["n", "English", "n{$v}", ""]))\""
            if !choices.isOne(in: 3) { line += ",URI=\"\(choices.number(below: mediaCount + 1)).m3u8\"" }
            if choices.isOne(in: 2) { line += ",LANGUAGE=\"\(choices.element(of: ["en", "de-AT", "", "x"]))\"" }
            if choices.isOne(in: 2) { line += ",DEFAULT=YES,AUTOSELECT=YES" }
            if choices.isOne(in: 3) { line += ",CHANNELS=\"\(choices.spelledNumber(["2", "6", "16/JOC"]))\"" }
            if choices.isOne(in: 3) {
                line += ",INSTREAM-ID=\"\(choices.element(of: ["CC1", "SERVICE63", "SERVICE"]))\""
            }
            if choices.isOne(in: 4) { line += ",BIT-DEPTH=\(choices.spelledNumber(["16", "24"]))" }
            if choices.isOne(in: 4) { line += ",SAMPLE-RATE=\(choices.spelledNumber(["48000"]))" }
            lines.append(line)
        }
        for index in 0..<(1 + choices.number(below: 6)) {
            lines.append(variant(&choices, mediaCount, index))
        }
        if choices.isOne(in: 4), let last = lines.last {
            lines += Array(repeating: last, count: 2 + choices.number(below: 40))
        }
        if choices.isOne(in: 4) { lines.reverse() }
        header.insert("#EXTM3U", at: 0)
        return joined(header + lines)
    }

    private static func variant(_ choices: inout ChoiceReader, _ mediaCount: Int, _ index: Int) -> String {
        let isIFrames = choices.isOne(in: 4)
        let rate = choices.spelledNumber(["200000", "900000", "1500000", "4000000", "80000"])
        var line = (isIFrames ? "#EXT-X-I-FRAME-STREAM-INF:" : "#EXT-X-STREAM-INF:") + "BANDWIDTH=\(rate)"
        if choices.isOne(in: 3) { line += ",AVERAGE-BANDWIDTH=\(choices.spelledNumber(["150000", "800000"]))" }
        if choices.isOne(in: 2) {
            let size = choices.element(of: [
                "640x360", "1920x1080", "0x0", "18446744073709551615x9223372036854775807", "1x",
            ])
            line += ",RESOLUTION=\(size)"
        }
        if choices.isOne(in: 2) {
            let codecs = choices.element(of: [
                "avc1.4d401e,mp4a.40.2", "mp4a.40.2", "wvtt", "stpp.ttml.im1t", ",", "dvh1.05.06",
            ])
            line += ",CODECS=\"\(codecs)\""
        }
        if choices.isOne(in: 3) { line += ",FRAME-RATE=\(choices.spelledNumber(["25", "29.97"]))" }
        if choices.isOne(in: 3) { line += ",SCORE=\(choices.spelledNumber(["1", "2.5"]))" }
        if choices.isOne(in: 2) { line += ",AUDIO=\"\(choices.element(of: ["a", "b", "missing"]))\"" }
        if choices.isOne(in: 3) { line += ",SUBTITLES=\"a\"" }
        if choices.isOne(in: 4) { line += ",CLOSED-CAPTIONS=\(choices.element(of: ["NONE", "\"a\""]))" }
        if choices.isOne(in: 4) { line += ",PATHWAY-ID=\"\(choices.element(of: [".", "p"]))\"" }
        if choices.isOne(in: 4) { line += ",HDCP-LEVEL=TYPE-1,VIDEO-RANGE=PQ" }
        let address = "\(choices.isOne(in: 6) ? choices.number(below: mediaCount + 2) : index % mediaCount).m3u8"
        return isIFrames ? line + ",URI=\"\(address)\"" : line + "\n\(address)"
    }
}

// MARK: - Media playlists

extension GeneratedPresentation {
    private static let durations = ["4", "6.006", "2.002", "10", "0.5", "4.004"]

    /// Returns the versions of a media playlist: windows on one list of segments that may also move backwards.
    private static func mediaPlaylists(_ choices: inout ChoiceReader) -> [String] {
        let isLive = choices.isOne(in: 3)
        let header = header(&choices, isMedia: true)
        var segments: [String] = []
        var size = 0
        for index in 0..<(1 + choices.number(below: 12)) {
            let segment = segment(&choices, index, isLive: isLive)
            segments.append(segment)
            size += segment.utf8.count
        }
        if choices.isOne(in: 4), let last = segments.last {
            let count = min(2 + 8 * choices.number(below: 64), maximumSize / max(1, last.utf8.count))
            segments += Array(repeating: last, count: count)
        }
        guard isLive else {
            return [
                media(
                    header,
                    sequence: choices.isOne(in: 4) ? choices.spelledNumber(["7"]) : nil,
                    segments,
                    "VOD",
                    ended: true
                )
            ]
        }
        let type = choices.element(of: [nil, nil, "EVENT", "VOD"])
        var versions: [String] = []
        var start = 0
        for version in 0..<(1 + choices.number(below: 6)) {
            let count = 1 + choices.number(below: segments.count)
            let window = Array(segments.dropFirst(start % segments.count).prefix(count))
            let sequence = choices.isOne(in: 6) ? choices.spelledNumber(["0", "3"]) : "\(start)"
            versions.append(media(header, sequence: sequence, window, type, ended: version > 2 && choices.isOne(in: 2)))
            start = max(0, start + choices.element(of: [1, 0, 2, 5, -1, -3]))
        }
        return versions
    }

    private static func media(
        _ header: [String],
        sequence: String?,
        _ segments: [String],
        _ type: String?,
        ended: Bool
    ) -> String {
        var lines = ["#EXTM3U"] + header
        if let sequence { lines.append("#EXT-X-MEDIA-SEQUENCE:\(sequence)") }
        if let type { lines.append("#EXT-X-PLAYLIST-TYPE:\(type)") }
        lines += segments
        if ended { lines.append("#EXT-X-ENDLIST") }
        return joined(lines)
    }

    private static func header(_ choices: inout ChoiceReader, isMedia: Bool) -> [String] {
        var lines: [String] = []
        if choices.isOne(in: 2) { lines.append("#EXT-X-VERSION:\(choices.spelledNumber(["3", "6", "7", "9", "12"]))") }
        if isMedia {
            lines.append("#EXT-X-TARGETDURATION:\(choices.spelledNumber(["4", "6", "10", "7"]))")
            if choices.isOne(in: 4) { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(choices.spelledNumber(["1"]))") }
            if choices.isOne(in: 6) { lines.append("#EXT-X-I-FRAMES-ONLY") }
            if choices.isOne(in: 3) {
                lines.append("#EXT-X-PART-INF:PART-TARGET=\(choices.spelledNumber(["1", "0.5"]))")
            }
            if choices.isOne(in: 3) {
                let hold = choices.spelledNumber(["12", "18"])
                let part = choices.spelledNumber(["3", "1.5"])
                let skip = choices.spelledNumber(["24", "36"])
                lines.append(
                    "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,HOLD-BACK=\(hold),PART-HOLD-BACK=\(part),CAN-SKIP-UNTIL=\(skip)"
                )
            }
            if choices.isOne(in: 6) {
                lines.append("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(choices.spelledNumber(["1", "3"]))")
            }
        } else {
            if choices.isOne(in: 6) {
                lines.append(
                    "#EXT-X-SESSION-DATA:DATA-ID=\"com.example.a\",VALUE=\"\(choices.text(8).filter { $0 != "\"" })\""
                )
            }
            if choices.isOne(in: 6) { lines.append("#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"k0.key\"") }
            if choices.isOne(in: 6) {
                lines.append("#EXT-X-CONTENT-STEERING:SERVER-URI=\"steering.json\",PATHWAY-ID=\"p\"")
            }
        }
        if choices.isOne(in: 3) { lines.append("#EXT-X-INDEPENDENT-SEGMENTS") }
        if choices.isOne(in: 4) {
            lines.append("#EXT-X-START:TIME-OFFSET=\(choices.spelledNumber(["3", "-12", "10.5"])),PRECISE=YES")
        }
        if choices.isOne(in: 3) {
            let define = choices.element(
                of: [
                    "NAME=\"v\",VALUE=\"w\"", "IMPORT=\"v\"", "QUERYPARAM=\"v\"", "NAME=\"v\",VALUE=\"{$v}{$v}\"",
                    "NAME=\"v\",VALUE=\"\(String(repeating: "x", count: 500))\"",
                ]
            )
            lines.append("#EXT-X-DEFINE:\(define)")
        }
        if choices.isOne(in: 4) { lines.reverse() }
        return lines
    }

    private static func segment(_ choices: inout ChoiceReader, _ index: Int, isLive: Bool) -> String {
        var lines: [String] = []
        if choices.isOne(in: 6) {
            let method = choices.element(of: ["AES-128", "NONE", "SAMPLE-AES", "SAMPLE-AES-CTR", "AES-256-GCM", "X"])
            let vector =
                choices.isOne(in: 2)
                ? ",IV=0x\(choices.element(of: ["00000000000000000000000000000001", "1", "", "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"]))"
                : ""
            lines.append(
                "#EXT-X-KEY:METHOD=\(method),URI=\"k\(choices.number(below: 3)).key?q=\(choices.number(below: 2))\"\(vector)"
            )
        }
        if choices.isOne(in: 6) {
            let range = choices.isOne(in: 2) ? ",BYTERANGE=\"\(byteRange(&choices))\"" : ""
            lines.append("#EXT-X-MAP:URI=\"i\(choices.number(below: 2)).mp4\"\(range)")
        }
        if choices.isOne(in: 6) { lines.append("#EXT-X-DISCONTINUITY") }
        if choices.isOne(in: 5) { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(date(&choices))") }
        if choices.isOne(in: 6) { lines.append("#EXT-X-BITRATE:\(choices.spelledNumber(["900", "4000"]))") }
        if choices.isOne(in: 12) { lines.append("#EXT-X-GAP") }
        if choices.isOne(in: 6) { lines.append(dateRange(&choices)) }
        if choices.isOne(in: isLive ? 3 : 8) {
            for part in 0..<(1 + choices.number(below: 4)) {
                let range = choices.isOne(in: 4) ? ",BYTERANGE=\"\(byteRange(&choices))\"" : ""
                lines.append(
                    "#EXT-X-PART:DURATION=\(choices.spelledNumber(["1", "0.5"])),URI=\"p\(index).\(part).m4s\"\(range),INDEPENDENT=YES"
                )
            }
        }
        if isLive, choices.isOne(in: 10) {
            lines.append(
                "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p.m4s\",BYTERANGE-START=\(choices.spelledNumber(["0", "500"]))"
            )
            lines.append(
                "#EXT-X-RENDITION-REPORT:URI=\"1.m3u8\",LAST-MSN=\(choices.spelledNumber(["5"])),LAST-PART=\(choices.spelledNumber(["2"]))"
            )
        }
        lines.append(
            "#EXTINF:\(choices.spelledNumber(durations)),\(choices.isOne(in: 8) ? choices.text(6).filter { !$0.isNewline } : "")"
        )
        if choices.isOne(in: 5) { lines.append("#EXT-X-BYTERANGE:\(byteRange(&choices))") }
        lines.append(
            choices.element(
                of: [
                    "s\(index).ts", "s\(index).m4s", "s.mp4", "s\(index).vtt", "s\(index).aac", "{$v}.ts", "../../s.ts",
                    "//h/s.ts", "data:,x", "http://[::1]:99999/s.ts", "s\(index).ts", "s\(index).ts",
                ]
            )
        )
        return lines.joined(separator: "\n")
    }

    private static func byteRange(_ choices: inout ChoiceReader) -> String {
        let length = choices.spelledNumber(["16", "100", "1000"])
        return choices.isOne(in: 2) ? length : length + "@" + choices.spelledNumber(["0", "16", "500"])
    }

    private static func date(_ choices: inout ChoiceReader) -> String {
        choices.element(
            of: [
                "2024-01-01T00:00:00Z", "2024-01-01T00:00:10.5+02:00", "2024-01-01T00:00:04Z", "1970-01-01T00:00:00Z",
                "0000-00-00T00:00:00Z", "9999-12-31T23:59:60.999999999999Z", "292277026596-12-04T15:30:07Z",
                "2024-02-30T25:61:61-99:99", "",
            ]
        )
    }

    private static func dateRange(_ choices: inout ChoiceReader) -> String {
        var line =
            "#EXT-X-DATERANGE:ID=\"\(choices.element(of: ["r", "r", "s", "t"]))\",START-DATE=\"\(date(&choices))\""
        if choices.isOne(in: 3) { line += ",END-DATE=\"\(date(&choices))\"" }
        if choices.isOne(in: 2) { line += ",DURATION=\(choices.spelledNumber(durations))" }
        if choices.isOne(in: 3) { line += ",PLANNED-DURATION=\(choices.spelledNumber(durations))" }
        if choices.isOne(in: 4) { line += ",CLASS=\"c\",END-ON-NEXT=YES" }
        if choices.isOne(in: 2) {
            line += ",CLASS=\"com.apple.hls.interstitial\",X-ASSET-URI=\"0.m3u8\""
            line +=
                ",X-RESUME-OFFSET=\(choices.spelledNumber(["0", "10"])),X-PLAYOUT-LIMIT=\(choices.spelledNumber(["5"]))"
            if choices.isOne(in: 2) { line += ",X-SNAP=\"IN,OUT\",X-RESTRICT=\"SKIP,JUMP\",CUE=\"PRE,ONCE\"" }
        }
        if choices.isOne(in: 6) { line += ",SCTE35-OUT=0x\(choices.element(of: ["FC30", "F", "", "ZZ"]))" }
        return line
    }

    private static func joined(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }
}
