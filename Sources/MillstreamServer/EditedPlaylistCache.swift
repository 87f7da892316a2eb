import HTTPTypes
import HummingbirdCore
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization

/// The edited playlists of a server, which are used again while the playlists that they were made of do not change.
final class EditedPlaylistCache: Sendable {
    /// The properties of a request that determine its response.
    struct Key: Hashable {
        /// The path and the query.
        let target: String
        /// The name with which the client reached the server, which absolute URLs contain.
        let authority: String
        /// A Boolean value that indicates whether the client has no access to the owner's sources.
        let isForeign: Bool

        /// The number of bytes of the key.
        var size: Int { target.utf8.count +| authority.utf8.count }
    }

    /// An edited playlist, or the manifest of a simulated channel.
    struct Entry: Sendable {
        let bytes: ByteBuffer
        /// The compressed bytes; `nil` before a client accepts them, and for a playlist that compression does not shorten.
        private(set) var compressed: ByteBuffer?
        /// A Boolean value that indicates whether ``compress()`` can change the entry.
        private(set) var mayCompress: Bool
        /// The entity tag: a hash of the bytes.
        let tag: String
        /// The versions of the playlists that the entry was made of.
        let versions: [ResourceAddress: UInt64]
        /// The second in which the playlist is valid, as a Unix time, if it changes with the date.
        let second: UnixSeconds?
        /// The media type.
        let contentType: String

        /// The media type of playlists (RFC 8216bis §4).
        static let playlistType = "application/vnd.apple.mpegurl"
        /// The media type of DASH manifests (ISO/IEC 23009-1 Annex C).
        static let manifestType = "application/dash+xml"

        init(
            _ bytes: [UInt8],
            versions: [ResourceAddress: UInt64],
            second: UnixSeconds?,
            contentType: String = playlistType
        ) {
            self.contentType = contentType
            self.bytes = ByteBuffer(bytes: bytes)
            mayCompress = bytes.count >= GzipEncoding.minimumSize
            var hash = StableHash()
            hash.combine(bytes)
            tag = "\"\(String(hash.value, radix: 16))\""
            self.versions = versions
            self.second = second
        }

        /// Adds the compressed bytes, which takes long for a large playlist.
        mutating func compress() {
            guard mayCompress else { return }
            mayCompress = false
            compressed = GzipEncoding.compress(Array(bytes.readableBytesView)).map { ByteBuffer(bytes: $0) }
        }

        /// The size of the playlist in memory, with the URLs of its sources.
        var size: Int {
            let addresses = versions.keys.reduce(0) { $0 +| $1.text.utf8.count +| 64 }
            return bytes.readableBytes +| (compressed?.readableBytes ?? 0) +| addresses +| 2_048
        }
    }

    private let maximumEntrySize: Int64
    private let now: @Sendable () -> UnixSeconds
    private let entries: Mutex<RecentlyUsedValues<Key, Entry>>

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - size: The maximum size of all entries together.
    ///   - now: The clock.
    init(size: ByteCount = ByteCount(64 << 20), now: @escaping @Sendable () -> UnixSeconds = { .now }) {
        maximumEntrySize = size.bytes / 4
        entries = Mutex(RecentlyUsedValues(maximumSize: size))
        self.now = now
    }

    /// Returns the entry of a request; `nil` if there is none, or if it depends on the date and was made in another second.
    ///
    /// The caller must check ``Entry/isFresh(in:)``, because the sources may have changed.
    func entry(for key: Key) -> Entry? {
        let now = now()
        return entries.withLock { $0.use(key) }.flatMap { $0.second ?? now == now ? $0 : nil }
    }

    func store(_ entry: Entry, for key: Key) {
        let size = entry.size +| key.size
        entries.withLock { entries in
            if Int64(size) <= maximumEntrySize {
                entries.insert(entry, size: size, for: key)
            } else {
                entries.remove(key)
            }
        }
    }
}

extension EditedPlaylistCache.Entry {
    /// Returns a Boolean value that indicates whether all sources are fresh and have the versions that the entry was made of.
    func isFresh(in memory: ResourceMemory) -> Bool {
        versions.allSatisfy { memory.freshVersion(of: $0.key) == $0.value }
    }

    /// Returns the body that belongs to the head of a response with the status 200.
    func body(for head: HTTPResponse) -> ByteBuffer? {
        head.headerFields[.contentEncoding] == nil ? bytes : compressed
    }

    /// Returns the response to a request, without a body if the client has the same playlist.
    ///
    /// - Throws: ``ServerError`` with 503 if the server has no capacity for the response.
    func response(to request: Request, _ capacity: ServerCapacity) throws -> Response {
        let compressed = GzipEncoding.isAccepted(by: request.headers) ? compressed : nil
        let compressedTag = "\(tag.dropLast())-gzip\""
        var headers: HTTPFields = [
            .contentType: contentType, .cacheControl: "no-cache",
            // Both forms have the same meaning, and different bytes (RFC 9110 §8.8.3.3).
            .eTag: compressed == nil ? tag : compressedTag, .vary: "Accept-Encoding",
        ]
        guard !ConditionalRequest(request.headers).hasRepresentation(tag, compressedTag) else {
            headers[.contentType] = nil
            return Response(status: .notModified, headers: headers)
        }
        if compressed != nil { headers[.contentEncoding] = "gzip" }
        let body = compressed ?? bytes
        let reservation = try capacity.reservation(of: body.readableBytes)
        return Response(status: .ok, headers: headers, body: ResponseBody(chunks: body, holding: reservation))
    }
}
