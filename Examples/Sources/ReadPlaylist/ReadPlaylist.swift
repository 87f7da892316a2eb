import HLSPlaylist
import ResourceAddressing

// The code of the article "Reading playlists".

let text = """
    #EXTM3U
    #EXT-X-VERSION:7
    #EXT-X-INDEPENDENT-SEGMENTS
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en/a.m3u8"
    #EXT-X-STREAM-INF:BANDWIDTH=2100000,CODECS="avc1.4d401f,mp4a.40.2",RESOLUTION=1280x720,AUDIO="aac"
    720p/v.m3u8

    """
let mediaText = """
    #EXTM3U
    #EXT-X-VERSION:7
    #EXT-X-TARGETDURATION:6
    #EXT-X-KEY:METHOD=AES-128,URI="key"
    #EXT-X-MAP:URI="init.mp4"
    #EXT-X-BYTERANGE:750000@720
    #EXTINF:5.99466,
    all.mp4
    #EXT-X-BYTERANGE:610000
    #EXTINF:4.00533,
    all.mp4
    #EXT-X-ENDLIST

    """

let address = ResourceAddress("https://cdn.example.com/film/multivariant.m3u8?token=a%2Fb")
let playlist = try Playlist.parse(Array(text.utf8), context: PlaylistContext(address: address))

switch playlist {
case .multivariant(let multivariant):
    for variant in multivariant.variants {
        print(variant.bandwidth?.bitsPerSecond ?? 0, variant.resolution?.description ?? "", variant.address)
    }
    for rendition in multivariant.renditions(.audio, in: "aac") {
        print(rendition.name, rendition.language ?? "", rendition.isDefault)
    }
case .media(let media):
    print(media.duration, media.segments.count)
}

let media = try MediaPlaylist(parsing: Array(mediaText.utf8))
print(media.duration)  // 9.99999, exactly

if let position = media.segments.position(at: media.segments[1].start) {
    let segment = media.segments[position]
    print(segment.uri, segment.byteRange?.description ?? "")  // all.mp4 610000@750720
    print(segment.keys.first?.method.rawValue ?? "", segment.map?.uri ?? "")
}

precondition(media.bytes == Array(mediaText.utf8))
