import GRDB
package import HLSPlaylist
import ResourceAddressing

/// The audio and subtitles renditions that the stored variants of an asset offer.
package struct OfferedRenditions: Sendable {
    /// A rendition of the source.
    package struct Entry: Sendable {
        /// The rendition.
        package let rendition: Rendition
        /// The zero-based index among the renditions of the source.
        package let position: Int
        /// A Boolean value that indicates whether all files of the rendition are stored.
        package let isStored: Bool
    }

    /// The multivariant playlist of the source.
    package let source: MultivariantPlaylist
    /// The zero-based indices of the stored variants, in the order in which they were stored.
    package let variants: [Int]
    /// The renditions in the order of the source.
    package let entries: [Entry]
}

extension AssetLibrary {
    /// Returns the audio and subtitles renditions that the stored variants of an asset offer; `nil` if its source is not a
    /// multivariant playlist.
    package func offeredRenditions(of id: String) throws -> OfferedRenditions? {
        let (record, bytes, variants, complete) = try catalog.read { database in
            let asset = try Self.record(id, database)
            let records = try RenditionRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database)
            var complete: Set<Int> = []
            for record in records where record.role.list == .renditions {
                let missing = try ResourceRecord.filter(Column("renditionID") == record.id)
                    .filter(Column("bytes") == nil).fetchCount(database)
                if missing == 0 { complete.formUnion(record.positions) }
            }
            let variants = records.filter { $0.role == .variant }.flatMap(\.positions)
            return (asset, try asset.sourceBytes(database), variants, complete)
        }
        let context = PlaylistContext(stored: ResourceAddress(record.sourceAddress ?? record.source))
        guard let bytes, let source = try? MultivariantPlaylist(parsing: bytes, context: context) else { return nil }
        let stored = variants.filter { source.variants.indices.contains($0) }
        let entries = source.renditions.enumerated().compactMap { position, rendition -> OfferedRenditions.Entry? in
            guard let type = rendition.type, type == .audio || type == .subtitles, rendition.uri != nil,
                stored.contains(where: { source.variants[$0].groupID(type) == rendition.groupID })
            else { return nil }
            return OfferedRenditions.Entry(
                rendition: rendition,
                position: position,
                isStored: complete.contains(position)
            )
        }
        return OfferedRenditions(source: source, variants: stored, entries: entries)
    }
}
