import HLSPlaylist
import ResourceAddressing

/// A minimal playlist with features that edits must handle.
struct EditSample {
    let name: String
    let text: String
    let address: String?

    private init(_ name: String, at address: String? = nil, _ lines: String...) {
        self.name = name
        self.address = address
        text = lines.map { $0 + "\n" }.joined()
    }

    private init(_ name: String, at address: String? = nil, text: String) {
        self.name = name
        self.address = address
        self.text = text
    }

    func media() throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: address.map { ResourceAddress($0) })
        )
    }

    func multivariant() throws -> MultivariantPlaylist {
        try MultivariantPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: address.map { ResourceAddress($0) })
        )
    }

    /// The playlists to edit.
    static let hosts = [
        plain, bare, crlf, live, scattered, keys, formats, maps, ranges, iFrames, variableKeys, trailing, seams,
    ]

    /// The playlists to stitch into others.
    static let guests = [
        advertisement, fast, clearMap, keyedMap, numberedKeys, dated, ranged, headless, variables, sibling, openEnd,
    ]

    static func media(_ name: String) -> EditSample? { (hosts + guests).first { $0.name == name } }

    // MARK: Hosts

    static let plain = EditSample(
        "plain",
        at: "https://a.example/x/list.m3u8?token=1",
        "#EXTM3U",
        "#EXT-X-VERSION:3",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-PLAYLIST-TYPE:VOD",
        "",
        "# first",
        "#EXTINF:4,one",
        "0.ts",
        "#EXTINF:3.5,",
        "1.ts",
        "# third",
        "#EXT-X-DISCONTINUITY",
        "#EXTINF:4,",
        "2.ts",
        "#EXT-X-GAP",
        "#EXTINF:2,",
        "3.ts",
        "#EXT-X-ENDLIST",
        "# last"
    )

    /// Without sequence numbers, an end marker, and a line ending after the last URI.
    static let bare = EditSample(
        "bare",
        text: "#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:4,\na\n#EXTINF:4,\nb\n#EXT-X-DISCONTINUITY\n#EXTINF:4,\nc"
    )

    static let crlf = EditSample(
        "crlf",
        text: "#EXTM3U\r\n#EXT-X-TARGETDURATION:4\r\n#EXT-X-MEDIA-SEQUENCE:7\r\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\r\n"
            + "#EXT-X-MAP:URI=\"m\"\r\n#EXTINF:4,\r\na\r\n#EXTINF:4,\r\nb\r\n#EXT-X-ENDLIST\r\n"
    )

    /// A live low-latency playlist.
    static let live = EditSample(
        "live",
        at: "https://a.example/x/live.m3u8",
        "#EXTM3U",
        "#EXT-X-VERSION:9",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3",
        "#EXT-X-PART-INF:PART-TARGET=1",
        "#EXT-X-MEDIA-SEQUENCE:50",
        "#EXT-X-DISCONTINUITY-SEQUENCE:3",
        "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00.000Z",
        "#EXTINF:4,",
        "50.mp4",
        "#EXT-X-DISCONTINUITY",
        "#EXTINF:4,",
        "51.mp4",
        "#EXT-X-DATERANGE:ID=\"d\",START-DATE=\"2024-01-01T00:00:08Z\"",
        "#EXT-X-PART:DURATION=2,URI=\"52.0.mp4\"",
        "#EXT-X-PART:DURATION=2,URI=\"52.1.mp4\"",
        "#EXTINF:4,",
        "52.mp4",
        "#EXT-X-DEFINE:NAME=\"late\",VALUE=\"1\"",
        "#EXT-X-DATERANGE:ID=\"e\",START-DATE=\"2024-01-01T00:00:12Z\"",
        "#EXT-X-PART:DURATION=1,URI=\"53.0.mp4\"",
        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"53.1.mp4\"",
        "#EXT-X-RENDITION-REPORT:URI=\"audio.m3u8\",LAST-MSN=52"
    )

    /// Tags that apply to the whole playlist, between and after the segments.
    static let scattered = EditSample(
        "scattered",
        "#EXTM3U",
        "#EXT-X-ENDLIST",
        "#EXT-X-VENDOR:head",
        "#EXT-X-TARGETDURATION:3.6",
        "#EXTINF:4,",
        "a",
        "#EXT-X-VERSION:6",
        "#EXT-X-VENDOR:b",
        "#EXT-X-DATERANGE:ID=\"b\"",
        "#EXTINF:4,",
        "b",
        "# c",
        "#EXT-X-MEDIA-SEQUENCE:9",
        "#EXT-X-INDEPENDENT-SEGMENTS",
        "#EXT-X-BITRATE:100",
        "#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"h\"",
        "#EXTINF:4,",
        "c",
        "#EXT-X-DISCONTINUITY-SEQUENCE:2",
        "#EXTINF:4,",
        "d",
        "# trailer",
        "#EXT-X-START:TIME-OFFSET=1",
        "#EXT-X-DATERANGE:ID=\"t\"",
        "#EXT-X-DISCONTINUITY",
        "#EXT-X-VENDOR:tail",
        "#EXT-X-PLAYLIST-TYPE:EVENT"
    )

    /// Keys with and without an initialization vector.
    static let keys = EditSample(
        "keys",
        at: "https://a.example/x/keys.m3u8",
        "#EXTM3U",
        "#EXT-X-VERSION:1",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-MEDIA-SEQUENCE:254",
        "#EXTINF:4,",
        "0.ts",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k1\"",
        "#EXTINF:4,",
        "1.ts",
        "#EXTINF:4,",
        "2.ts",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k2\",IV=0x05",
        "#EXTINF:4,",
        "3.ts",
        "#EXT-X-KEY:METHOD=NONE",
        "#EXTINF:4,",
        "4.ts",
        "#EXTINF:4,",
        "5.ts",
        "#EXT-X-ENDLIST"
    )

    /// Keys of several formats that apply at the same time.
    static let formats = EditSample(
        "formats",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://1\",KEYFORMAT=\"com.example\"",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k1\"",
        "#EXTINF:4,",
        "0.ts",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k2\"",
        "#EXTINF:4,",
        "1.ts",
        "#EXTINF:4,",
        "2.ts",
        "#EXT-X-KEY:METHOD=NONE",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://3\",KEYFORMAT=\"com.example\"",
        "#EXTINF:4,",
        "3.ts",
        "#EXT-X-ENDLIST"
    )

    /// Maps that are encrypted with their own keys, and clear ones.
    static let maps = EditSample(
        "maps",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"mk\",IV=0x7",
        "#EXT-X-MAP:URI=\"m0\",BYTERANGE=\"10@0\"",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k0\"",
        "#EXTINF:4,",
        "0.mp4",
        "#EXTINF:4,",
        "1.mp4",
        "#EXT-X-KEY:METHOD=NONE",
        "#EXT-X-MAP:URI=\"m2\"",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k2\"",
        "#EXTINF:4,",
        "2.mp4",
        "#EXT-X-KEY:METHOD=NONE",
        "#EXTINF:4,",
        "3.mp4",
        "#EXT-X-MAP:URI=\"m4\"",
        "#EXTINF:4,",
        "4.mp4",
        "#EXT-X-ENDLIST"
    )

    /// Byte ranges, dates and bit rates that apply to the following segments.
    static let ranges = EditSample(
        "ranges",
        "#EXTM3U",
        "#EXT-X-VERSION:4",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-MEDIA-SEQUENCE:0",
        "#EXT-X-DISCONTINUITY-SEQUENCE:0",
        "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00+01:00",
        "#EXT-X-BITRATE:800",
        "#EXT-X-BYTERANGE:100@50",
        "#EXTINF:4,",
        "m.ts",
        "#EXT-X-DISCONTINUITY",
        "#EXT-X-BYTERANGE:100",
        "#EXTINF:4,",
        "m.ts",
        "#EXT-X-BYTERANGE:100",
        "#EXTINF:4,",
        "m.ts",
        "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:01:00+01:00",
        "#EXT-X-BITRATE:900",
        "#EXTINF:4,",
        "whole.ts",
        "#EXT-X-ENDLIST"
    )

    static let iFrames = EditSample(
        "i-frames",
        "#EXTM3U",
        "#EXT-X-VERSION:4",
        "#EXT-X-I-FRAMES-ONLY",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-BYTERANGE:100@50",
        "#EXTINF:4,",
        "m.ts",
        "#EXT-X-BYTERANGE:100@500",
        "#EXTINF:4,",
        "m.ts",
        "#EXT-X-ENDLIST"
    )

    /// Keys whose URIs contain variables.
    static let variableKeys = EditSample(
        "variable-keys",
        at: "https://a.example/x/variables.m3u8",
        "#EXTM3U",
        "#EXT-X-VERSION:8",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-DEFINE:NAME=\"h\",VALUE=\"https://k.example\"",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"{$h}/mk\",IV=0x1",
        "#EXT-X-MAP:URI=\"{$h}/m\"",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"{$h}/a\",KEYFORMAT=\"com.example\"",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"{$h}/b\",IV=0x2",
        "#EXTINF:4,",
        "{$h}/0.mp4",
        "#EXTINF:4,",
        "1.mp4",
        "#EXT-X-ENDLIST"
    )

    /// Tags without a URI or a value, and tags that would apply to a segment after the last.
    static let trailing = EditSample(
        "trailing",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-DISCONTINUITY-SEQUENCE:7",
        "#EXT-X-KEY",
        "#EXT-X-KEY:METHOD=NONE,URI=\"none\"",
        "#EXT-X-BITRATE:x",
        "#EXT-X-BYTERANGE:x",
        "#EXTINF:4,",
        "0.ts",
        "#EXT-X-DISCONTINUITY",
        "#EXT-X-BITRATE:7",
        "#EXTINF:4,",
        "1.ts",
        "#EXTINF:4,",
        "2.ts",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"",
        "#EXT-X-MAP:URI=\"m\"",
        "#EXT-X-ENDLIST",
        "#EXT-X-INDEPENDENT-SEGMENTS"
    )

    /// Maps and keys that apply across boundaries: a new map under inherited keys, a clear segment with an encrypted
    /// map, and a clear map after encrypted segments.
    static let seams = EditSample(
        "seams",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-DISCONTINUITY",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"x\",KEYFORMAT=\"com.example\"",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"",
        "#EXT-X-MAP:URI=\"m0\"",
        "#EXT-X-BYTERANGE:5",
        "#EXTINF:4,",
        "0.mp4",
        "#EXT-X-MAP:URI=\"m1\"",
        "#EXTINF:4,",
        "1.mp4",
        "#EXT-X-KEY:METHOD=NONE",
        "#EXTINF:4,",
        "2.mp4",
        "#EXTINF:4,",
        "3.mp4",
        "#EXT-X-MAP:URI=\"m4\"",
        "#EXTINF:4,",
        "4.mp4",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k5\"",
        "#EXTINF:4,",
        "5.mp4",
        "#EXT-X-KEY:METHOD=NONE",
        "#EXT-X-MAP:URI=\"m6\"",
        "#EXTINF:4,",
        "6.mp4",
        "#EXT-X-ENDLIST"
    )

    // MARK: Guests

    static let advertisement = EditSample(
        "ad",
        at: "https://ads.example/y/ad.m3u8?sig=a%2Fb",
        "#EXTM3U",
        "#EXT-X-VERSION:5",
        "#EXT-X-TARGETDURATION:6",
        "#EXT-X-MEDIA-SEQUENCE:3",
        "#EXT-X-START:TIME-OFFSET=1",
        "# first",
        "#EXT-X-VENDOR:ad",
        "#EXTINF:6,ad",
        "ad0.ts",
        "#EXT-X-VERSION:7",
        "#EXTINF:5,",
        "ad1.ts",
        "# last",
        "#EXT-X-ENDLIST"
    )

    /// A target duration with a fraction, and a low version.
    static let fast = EditSample(
        "fast",
        "#EXTM3U",
        "#EXT-X-VERSION:2",
        "#EXT-X-TARGETDURATION:4.2",
        "#EXT-X-DISCONTINUITY",
        "#EXTINF:2,",
        "f0",
        "#EXT-X-ENDLIST"
    )

    static let clearMap = EditSample(
        "clear-map",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-MAP:URI=\"gm\"",
        "#EXTINF:2,",
        "g0",
        "#EXT-X-ENDLIST"
    )

    static let keyedMap = EditSample(
        "keyed-map",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"gk\"",
        "#EXT-X-MAP:URI=\"gm\"",
        "#EXTINF:2,",
        "g0",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://g\",KEYFORMAT=\"com.example\"",
        "#EXTINF:2,",
        "g1",
        "#EXT-X-ENDLIST"
    )

    /// Implicit initialization vectors whose media sequence numbers also occur in the stitched playlist.
    static let numberedKeys = EditSample(
        "numbered-keys",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-MEDIA-SEQUENCE:1",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"gk\"",
        "#EXTINF:2,",
        "g0",
        "#EXTINF:2,",
        "g1",
        "#EXT-X-ENDLIST"
    )

    static let dated = EditSample(
        "dated",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:00Z",
        "#EXT-X-BITRATE:5",
        "#EXT-X-DATERANGE:ID=\"g\",START-DATE=\"2020-01-01T00:00:00Z\"",
        "#EXT-X-PART:DURATION=2,URI=\"p\"",
        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"h\"",
        "#EXT-X-RENDITION-REPORT:URI=\"r\"",
        "#EXTINF:2,",
        "g0",
        "#EXT-X-ENDLIST"
    )

    static let ranged = EditSample(
        "ranged",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-BYTERANGE:5",
        "#EXTINF:2,",
        "g",
        "#EXT-X-BYTERANGE:5",
        "#EXTINF:2,",
        "g",
        "#EXT-X-ENDLIST"
    )

    /// A playlist that begins with a key and has no `EXTM3U`.
    static let headless = EditSample(
        "headless",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"gk\"",
        "#EXTINF:2,",
        "g0",
        "#EXT-X-ENDLIST"
    )

    static let variables = EditSample(
        "variables",
        at: "https://a.example/x/variables.m3u8",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXT-X-DEFINE:NAME=\"n\",VALUE=\"v\"",
        "#EXTINF:2,",
        "{$n}/g0",
        "#EXT-X-ENDLIST"
    )

    /// A playlist in the same folder as some of the hosts.
    static let sibling = EditSample(
        "sibling",
        at: "https://a.example/x/sibling.m3u8",
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:4",
        "#EXTINF:2,",
        "s0",
        "#EXT-X-ENDLIST"
    )

    /// A playlist without an end marker.
    static let openEnd = EditSample("open", "#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXTINF:2,", "o0")

    // MARK: Multivariant playlists

    static let presentations = [ladder, crlfLadder, audioOnly]

    static let ladder = EditSample(
        "ladder",
        at: "https://a.example/x/main.m3u8",
        "#EXTM3U",
        "#EXT-X-VERSION:6",
        "#EXT-X-DEFINE:NAME=\"d\",VALUE=\"v\"",
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"English\",LANGUAGE=\"en\",DEFAULT=YES,URI=\"en.m3u8\"",
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"b\",NAME=\"Muxed\",LANGUAGE=\"en\"",
        "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"Deutsch\",LANGUAGE=\"de\",URI=\"de.m3u8\"",
        "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"CC\",INSTREAM-ID=\"CC1\"",
        "#EXT-X-SESSION-DATA:DATA-ID=\"t\",VALUE=\"plain\"",
        "#EXT-X-SESSION-DATA:DATA-ID=\"u\",URI=\"data.json\"",
        "#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"k\"",
        "#EXT-X-CONTENT-STEERING:SERVER-URI=\"/steer\"",
        "#EXT-X-VENDOR:kept",
        "",
        "#EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360,AUDIO=\"a\",SUBTITLES=\"s\",CLOSED-CAPTIONS=\"c\"",
        "low.m3u8",
        " \t",
        "",
        "#EXT-X-STREAM-INF:BANDWIDTH=2000,RESOLUTION=1280x720,AUDIO=\"b\",CLOSED-CAPTIONS=NONE",
        "# between",
        "{$d}/high.m3u8",
        "",
        "#EXT-X-STREAM-INF:BANDWIDTH=100,AUDIO=\"a\"",
        "https://b.example/sound.m3u8",
        "#EXT-X-STREAM-INF:RESOLUTION=320x180,NAME=\"no, rate\"",
        "rateless.m3u8",
        "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=10,RESOLUTION=640x360,URI=\"i360.m3u8\"",
        "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=20,RESOLUTION=1280x720,URI=\"i720.m3u8\"",
        "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=30,RESOLUTION=1920x1080,URI=\"i1080.m3u8\"",
        "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=40,URI=\"i.m3u8\""
    )

    static let crlfLadder = EditSample(
        "crlf-ladder",
        text: "#EXTM3U\r\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\",URI=\"a\"\r\n\r\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=10,AUDIO=\"a\"\r\nx\r\n\r\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=20,AUDIO=\"a\"\r\ny\r\n"
            + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i\"\r\n"
    )

    static let audioOnly = EditSample(
        "audio-only",
        "#EXTM3U",
        "#EXT-X-STREAM-INF:BANDWIDTH=10",
        "x.m3u8",
        "#EXT-X-STREAM-INF:BANDWIDTH=20",
        "y.m3u8"
    )
}
