import Foundation
import MediaTiming
package import ResourceAddressing

/// A steering manifest, which declares the order in which a player prefers the pathways (RFC 8216bis §7.2).
package struct SteeringManifest: Sendable, Hashable {
    /// The maximum size of a manifest, 1 MiB; usual ones have less than 2 KiB.
    static let maximumSize = ByteCount(1 << 20)
    /// The maximum number of pathways in the order of preference; the others are ignored.
    package static let maximumPathwayCount = 64
    /// The maximum number of pathway clones; the others are ignored.
    package static let maximumCloneCount = 32
    /// The time to live of a manifest that declares none, as the draft recommends.
    static let defaultTimeToLive = Duration.seconds(300)
    /// The range of the time to live, in seconds, so that a server is neither flooded nor forgotten.
    private static let timeToLiveRange: ClosedRange<Int64> = 5...86_400

    /// The time after which the manifest is loaded again, from 5 seconds to one day.
    package let timeToLive: Duration
    /// The URL of the next manifest; `nil` to use the URL of this one again.
    package let reloadAddress: ResourceAddress?
    /// The identifiers of the pathways, the most preferred one first; never empty, without duplicates.
    package let pathwayPriority: [String]
    /// The pathways that are derived from others, in order.
    package let clones: [PathwayClone]

    /// Creates a steering manifest by parsing it.
    ///
    /// Unknown members and invalid pathway clones are ignored.
    ///
    /// - Parameters:
    ///   - bytes: The manifest, as JSON.
    ///   - address: The URL of the manifest, to which relative URLs in it are resolved.
    /// - Throws: ``StreamingError`` if the bytes are not a steering manifest of version 1.
    package init(parsing bytes: [UInt8], at address: ResourceAddress) throws(StreamingError) {
        func unreadable(_ problem: String, _ cause: (any Error)? = nil) -> StreamingError {
            StreamingError(.unreadablePlaylist, "the steering manifest \(problem)", address: address, cause: cause)
        }
        guard bytes.count <= Self.maximumSize.bytes else { throw unreadable("is larger than \(Self.maximumSize)") }
        let written: Written
        do {
            written = try JSONDecoder().decode(Written.self, from: Data(bytes))
        } catch {
            throw unreadable("is not a JSON object with VERSION and PATHWAY-PRIORITY", error)
        }
        guard written.version == 1 else { throw unreadable("has a version other than 1, which is not supported") }
        var seen: Set<String> = []
        pathwayPriority = Array(
            written.pathwayPriority.filter { !$0.isEmpty && seen.insert($0).inserted }.prefix(Self.maximumPathwayCount)
        )
        guard !pathwayPriority.isEmpty else { throw unreadable("has an empty PATHWAY-PRIORITY") }
        timeToLive =
            written.timeToLive.map { seconds in
                let range = Self.timeToLiveRange
                return .seconds(min(max(Int64(saturating: seconds), range.lowerBound), range.upperBound))
            } ?? Self.defaultTimeToLive
        reloadAddress = written.reloadURI.map { address.resolving($0) }.flatMap { $0.isHTTP ? $0 : nil }
        clones = (written.clones ?? []).prefix(Self.maximumCloneCount).compactMap { clone in
            clone.value.flatMap { PathwayClone($0, at: address) }
        }
    }

    private struct Written: Decodable {
        let version: Double
        let timeToLive: Double?
        let reloadURI: String?
        let pathwayPriority: [String]
        let clones: [WrittenPathwayClone.Lenient]?

        private enum CodingKeys: String, CodingKey {
            case version = "VERSION"
            case timeToLive = "TTL"
            case reloadURI = "RELOAD-URI"
            case pathwayPriority = "PATHWAY-PRIORITY"
            case clones = "PATHWAY-CLONES"
        }
    }
}

/// A pathway clone as it is written in a steering manifest.
struct WrittenPathwayClone: Decodable {
    /// A pathway clone, or `nil` for a value that is not one.
    struct Lenient: Decodable {
        let value: WrittenPathwayClone?

        init(from decoder: any Decoder) throws { value = try? WrittenPathwayClone(from: decoder) }
    }

    struct Replacement: Decodable {
        let host: String?
        let parameters: [String: String]?
        let variantURIs: [String: String]?
        let renditionURIs: [String: String]?

        private enum CodingKeys: String, CodingKey {
            case host = "HOST"
            case parameters = "PARAMS"
            case variantURIs = "PER-VARIANT-URIS"
            case renditionURIs = "PER-RENDITION-URIS"
        }
    }

    let baseID: String
    let id: String
    let replacement: Replacement

    private enum CodingKeys: String, CodingKey {
        case baseID = "BASE-ID"
        case id = "ID"
        case replacement = "URI-REPLACEMENT"
    }
}
