import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaylistEditing
import ResourceAddressing
import SegmentFormat

/// A media file, such as an MP4 file, that is downloaded instead of a stream.
///
/// It is stored as a media playlist with one segment, the entire file.
struct MediaFileSource {
    /// The number of bytes that suffice to recognize a media file, 64 KiB.
    static let headSize = 64 << 10

    /// The container format.
    let container: MediaContainer
    /// The URL after all redirects.
    let address: ResourceAddress
    private let head: [UInt8]
    /// The size in bytes; `nil` if the server does not report it.
    private let length: Int64?

    /// The usual extension of a file in the container format.
    var fileExtension: String {
        switch container {
        case .isoBaseMedia: ".mp4"
        case .transportStream: ".ts"
        case .aac: ".aac"
        case .ac3: ".ac3"
        case .enhancedAC3: ".ec3"
        case .mpegAudio, .id3: ".mp3"
        case .flac: ".flac"
        case .ogg: ".ogg"
        case .wave: ".wav"
        case .matroska: ".mkv"
        case .webM: ".webm"
        case .webVTT, .ttml, .hlsPlaylist, .mediaPresentation, .html: ""
        }
    }

    /// Creates the source from the first bytes of a resource; `nil` if these are not those of a media file.
    init?(_ bytes: [UInt8], _ response: TransportResponse, isWhole: Bool) {
        guard let container = MediaContainer(bytes.span), container.isMediaFile else { return nil }
        self.container = container
        address = response.address
        head = bytes
        length = isWhole ? Int64(bytes.count) : response.expectedLength
    }

    /// Reads the index of the file.
    ///
    /// - Throws: ``DownloadError`` if the file has no media that can be played; `CancellationError`.
    func timeline(_ loader: ResourceLoader) async throws -> MediaFileTimeline {
        guard var index = MediaFileIndexer(head: head, length: length) else { throw unreadable(nil) }
        var loaded: Int64 = 0
        while case .needsBytes(let range) = index.state {
            loaded +|= range.length
            guard loaded <= MediaFileIndexer.maximumIndexSize else { throw unreadable(nil) }
            do {
                let request = TransportRequest(address, kind: .other, byteRange: range)
                index.add(try await loader.load(request, limit: ByteCount(range.length)).bytes)
            } catch let error as TransportError {
                throw DownloadError(error)
            }
        }
        guard case .ready(let timeline) = index.state else { throw unreadable(nil) }
        // The tracks of an MP4 file are in its index.
        guard !timeline.segments.isEmpty, container != .isoBaseMedia || !timeline.tracks.isEmpty else {
            throw unreadable(timeline.error)
        }
        if let missing = timeline.missingLength(inFileOfLength: length) {
            throw DownloadError(
                .notAPlaylist,
                "\(address): the file ends early: \(timeline.missingLengthAccuracy.text(missing)), also at its server",
                address: address
            )
        }
        return timeline
    }

    private func unreadable(_ error: MediaFormatError?) -> DownloadError {
        DownloadError(
            .notAPlaylist,
            "\(address): this is \(container.nameWithArticle), but it has no media that can be played"
                + (error.map { " (\($0))" } ?? ""),
            address: address,
            cause: error
        )
    }

    /// Returns the playlist that represents the file.
    ///
    /// - Throws: ``DownloadError`` if the file declares an excessive duration.
    func playlist(duration: MediaTime) throws -> MediaPlaylist {
        // A playlist can represent shorter durations to the nanosecond.
        guard duration <= MediaTime(seconds: 1_000_000_000) else {
            throw DownloadError(.notAPlaylist, "\(address): the file declares an excessive duration", address: address)
        }
        let text = """
            #EXTM3U
            #EXT-X-VERSION:3
            #EXT-X-TARGETDURATION:\(max(1, Int64(saturating: duration.seconds.rounded(.up))))
            #EXT-X-PLAYLIST-TYPE:VOD
            #EXTINF:\(duration),
            \(address.playlistText)
            #EXT-X-ENDLIST

            """
        do {
            return try MediaPlaylist(parsing: Array(text.utf8), context: PlaylistContext(address: address))
        } catch {
            throw DownloadError(.notAPlaylist, "\(address): \(error)", address: address, cause: error)
        }
    }

    /// Returns the variant that describes the file in a listing.
    ///
    /// - Parameters:
    ///   - tracks: The tracks of the file.
    ///   - duration: The duration.
    /// - Returns: The variant; `nil` if nothing is known about the file.
    func variant(_ tracks: [MediaTrack], duration: MediaTime) -> Variant? {
        var attributes: [String] = []
        if let length, duration > .zero {
            let rate = Int64(saturating: (Double(length) * 8 / duration.seconds).rounded(.up))
            attributes.append("BANDWIDTH=\(max(1, rate))")
        }
        if let video = tracks.first(where: { $0.mediaType == .video }), let width = video.presentationWidth,
            let height = video.presentationHeight, width > 0, height > 0
        {
            attributes.append("RESOLUTION=\(width)x\(height)")
        }
        // A codec is a part of a quoted string.
        let codecs = tracks.compactMap(\.codec).filter { codec in
            codec.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: ",") }
        }
        if !codecs.isEmpty { attributes.append("CODECS=\"\(codecs.joined(separator: ","))\"") }
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:\(attributes.joined(separator: ","))\n\(address.playlistText)\n"
        return try? MultivariantPlaylist(parsing: Array(text.utf8), context: PlaylistContext(address: address))
            .variants.first
    }
}

extension DownloadResolver {
    /// Returns the playlist of a media file.
    ///
    /// - Throws: ``DownloadError``, also if only a part of the file is selected.
    func resolution(of file: MediaFileSource) async throws -> Resolution {
        let kind = file.container.nameWithArticle
        guard !acceptsLive else {
            throw DownloadError(
                .notAPlaylist,
                "\(file.address): this is \(kind) and not a live stream",
                hint: "download it instead of recording it",
                address: file.address
            )
        }
        guard selection.timeRange == nil, selection.edits.edits.isEmpty, selection.variants != .none else {
            throw DownloadError(
                .nothingSelected,
                "\(file.address): this is \(kind), which can only be downloaded as a whole",
                hint: "leave out the time range and the edits; what is stored can be exported without video",
                address: file.address
            )
        }
        let timeline = try await file.timeline(loader)
        if let scheme = timeline.tracks.compactMap(\.encryptionScheme).first {
            throw DownloadError(
                .contentProtected,
                "the content is protected (\(scheme)), which is not supported",
                address: file.address
            )
        }
        try Self.verify(selection.audio, .audio, in: timeline.tracks)
        try Self.verify(selection.subtitles, .subtitles, in: timeline.tracks)
        let duration = timeline.duration ?? .zero
        let playlist = try file.playlist(duration: duration)
        let rendition = PlannedRendition(
            role: .variant,
            position: -1,
            language: nil,
            variant: file.variant(timeline.tracks, duration: duration),
            playlist: playlist,
            address: file.address,
            mediaFileExtension: file.fileExtension,
            audioLanguages: Self.languages(of: .audio, in: timeline.tracks),
            subtitleLanguages: Self.languages(of: .subtitles, in: timeline.tracks)
        )
        return Resolution(
            playlist: .media(playlist),
            address: file.address,
            renditions: [rendition],
            title: timeline.metadata.title,
            artwork: timeline.metadata.artwork.flatMap { try? AssetArtwork(Data($0.bytes)) }
        )
    }

    /// Verifies that a media file, which is stored as a whole, has every language or name that is selected.
    ///
    /// - Parameters:
    ///   - languages: The selection.
    ///   - type: Audio or subtitles.
    ///   - tracks: The tracks of the file.
    /// - Throws: ``DownloadError`` with the languages and names that the file has.
    static func verify(
        _ languages: DownloadSelection.Languages,
        _ type: Rendition.MediaType,
        in tracks: [MediaTrack]
    ) throws(DownloadError) {
        // Without tracks in the index, it is unknown what the file has.
        guard !tracks.isEmpty else { return }
        let mediaType: MediaTrack.MediaType = type == .audio ? .audio : .subtitles
        let matching = tracks.filter { $0.mediaType == mediaType }
        // A track of an undetermined language is selected by und (RFC 5646 §4.1).
        let offered: [(language: String?, name: String?)] = matching.map { track in
            (language: track.language ?? "und", name: track.name)
        }
        let missing = languages.missing(in: offered)
        guard !missing.isEmpty else { return }
        throw missingLanguages(
            missing,
            type,
            offered: offered,
            hintIfEmpty: "the file has no \(type == .audio ? "audio" : "subtitles")"
        )
    }

    /// Returns the languages of the tracks of a media type, with `und` for a track that declares none or no valid tag
    /// (RFC 5646 §2.1).
    static func languages(of type: MediaTrack.MediaType, in tracks: [MediaTrack]) -> [String] {
        tracks.filter { $0.mediaType == type }.map { track in
            guard let language = track.language, language.utf8.count <= 100,
                language.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || Self.isLetterOrDigit($0) })
            else { return "und" }
            return language
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
