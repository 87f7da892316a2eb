/// Playlists of the structure and size with which parsers are compared, generated in each run.
enum Inputs {
    /// 100,000 segments with EXTINF and BYTERANGE, a date every ten segments, and one map: about 10 MB.
    static let vod = Array((segments(0..<100_000) + "#EXT-X-ENDLIST\n").utf8)

    /// The same as a live playlist, and its next version with one segment more and one less.
    static let live = (Array(segments(0..<100_000).utf8), Array(segments(1..<100_001).utf8))

    private static func segments(_ numbers: Range<Int>) -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:6\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        text += "#EXT-X-MAP:URI=\"init.mp4\",BYTERANGE=\"720@0\"\n"
        for number in numbers {
            if number % 10 == 0 {
                let minute = number / 10
                text += "#EXT-X-PROGRAM-DATE-TIME:2024-01-\(10 + minute / 1440 % 20)T"
                text += "\(10 + minute / 60 % 14):\(10 + minute % 50):00.000Z\n"
            }
            text += "#EXTINF:5.99\(number % 10)99,segment number \(number)\n"
            text += "#EXT-X-BYTERANGE:\(750_000 + number % 1000)@\(720 + number * 750_000)\n"
            text += "video/1080p/segment_\(number).m4s\n"
        }
        return text
    }

    /// 200 variants and 60 renditions: about 60 KB.
    static let multi = Array(entries(variants: 200, renditions: 60).utf8)

    /// Ten times as many entries, for which the time should be ten times as long.
    static let longMulti = Array(entries(variants: 2_000, renditions: 600).utf8)

    private static func entries(variants: Int, renditions: Int) -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        for number in 0..<renditions {
            text += "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio-\(number / 10)\",NAME=\"Language \(number)\","
            text += "LANGUAGE=\"en\",DEFAULT=\(number % 10 == 0 ? "YES" : "NO"),AUTOSELECT=YES,CHANNELS=\"2\","
            text += "URI=\"https://cdn.example.com/audio/\(number)/media.m3u8?token=0123456789abcdef\"\n"
        }
        for number in 0..<variants {
            text += "#EXT-X-STREAM-INF:BANDWIDTH=\(200_000 + number * 40_000),"
            text += "AVERAGE-BANDWIDTH=\(180_000 + number * 39_000),CODECS=\"avc1.640028,mp4a.40.2\","
            text += "RESOLUTION=\(320 + number * 8)x\(180 + number * 4),FRAME-RATE=29.970,"
            text += "AUDIO=\"audio-\(number % 6)\",HDCP-LEVEL=NONE,VIDEO-RANGE=SDR,CLOSED-CAPTIONS=NONE\n"
            text += "https://cdn.example.com/video/\(number)/media.m3u8?token=0123456789abcdef\n"
        }
        return text
    }

    /// 166 segments and 2,000 parts: about 130 KB.
    static let lowLatency: [UInt8] = {
        var text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:4\n#EXT-X-PART-INF:PART-TARGET=0.33334\n"
        text += "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.002\n#EXT-X-MEDIA-SEQUENCE:1000\n"
        for number in 0..<166 {
            for part in 0..<12 {
                text +=
                    "#EXT-X-PART:DURATION=0.33334,URI=\"fileSequence\(1000 + number).part\(part).mp4\"\(part == 0 ? ",INDEPENDENT=YES" : "")\n"
            }
            text += "#EXTINF:4.00008,\nfileSequence\(1000 + number).mp4\n"
        }
        for part in 0..<8 { text += "#EXT-X-PART:DURATION=0.33334,URI=\"part1166.\(part).mp4\"\n" }
        return Array((text + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"part1166.8.mp4\"\n").utf8)
    }()
}
