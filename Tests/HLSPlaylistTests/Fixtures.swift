/// Playlists that several suites parse.
enum Fixtures {
    /// A media playlist with every kind of tag that applies to segments.
    static let everything = """
        #EXTM3U
        #EXT-X-VERSION:9
        #EXT-X-TARGETDURATION:6
        #EXT-X-MEDIA-SEQUENCE:100
        #EXT-X-DISCONTINUITY-SEQUENCE:7
        #EXT-X-DEFINE:NAME="host",VALUE="https://cdn.example"
        #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=36,PART-HOLD-BACK=1.002
        #EXT-X-PART-INF:PART-TARGET=0.334
        #EXT-X-MAP:URI="init.mp4",BYTERANGE="720@0"
        #EXT-X-KEY:METHOD=AES-128,URI="{$host}/key?id=1",IV=0x00000000000000000000000000000001
        #EXT-X-PROGRAM-DATE-TIME:2024-02-29T23:59:58.500Z
        #EXT-X-BYTERANGE:1000@720
        #EXTINF:5.005,First, with a comma
        media.mp4
        #EXT-X-BYTERANGE:500
        #EXTINF:5.005,
        media.mp4
        #EXT-X-DISCONTINUITY
        #EXT-X-KEY:METHOD=NONE
        #EXT-X-BITRATE:1500
        #EXT-X-GAP
        #EXTINF:4,
        {$host}/gap.mp4
        #EXT-X-DATERANGE:ID="ad",CLASS="com.example",START-DATE="2024-03-01T00:00:10Z",DURATION=15.5,X-COM="y"
        #EXT-X-DATERANGE:ID="ad",END-DATE="2024-03-01T00:00:25.5Z"
        #EXT-X-CUE-OUT:DURATION=15
        #EXT-X-PROGRAM-DATE-TIME:2024-03-01T02:00:20+02:00
        #EXT-X-PART:DURATION=0.334,URI="p1.mp4",INDEPENDENT=YES
        #EXT-X-PART:DURATION=0.334,URI="p2.mp4",BYTERANGE="100@5"
        #EXT-X-PART:DURATION=0.334,URI="p2.mp4",BYTERANGE="50"
        #EXTINF:1.002,
        last.mp4
        #EXT-X-PART:DURATION=0.334,URI="p3.mp4",GAP=YES
        #EXT-X-PRELOAD-HINT:TYPE=PART,URI="p4.mp4"
        #EXT-X-RENDITION-REPORT:URI="../audio.m3u8",LAST-MSN=104,LAST-PART=0

        """

    /// A multivariant playlist with groups.
    static let multivariant = """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-START:TIME-OFFSET=-12.5,PRECISE=YES
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="2",URI="en/a.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="한국어",LANGUAGE="ko",AUTOSELECT=YES,URI="ko/a.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subs",NAME="English",LANGUAGE="en",FORCED=YES,URI="en/s.m3u8"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="CC",INSTREAM-ID="CC1"
        #EXT-X-STREAM-INF:BANDWIDTH=800000,AVERAGE-BANDWIDTH=700000,CODECS="avc1.4d401e, mp4a.40.2",RESOLUTION=640x360,\
        FRAME-RATE=29.970,AUDIO="aac",SUBTITLES="subs",CLOSED-CAPTIONS="cc"
        360p.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2500000,CODECS="avc1.4d401f,mp4a.40.2",RESOLUTION=1280x720,AUDIO="aac",\
        CLOSED-CAPTIONS=NONE
        720p.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,RESOLUTION=640x360,URI="i360.m3u8"
        #EXT-X-SESSION-DATA:DATA-ID="com.example.title",VALUE="Title",LANGUAGE="en"
        #EXT-X-CONTENT-STEERING:SERVER-URI="/steer",PATHWAY-ID="A"

        """
}
