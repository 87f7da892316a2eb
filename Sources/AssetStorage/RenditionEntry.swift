import GRDB

/// The place of a media playlist in an asset, without the playlist itself, which can have many megabytes.
struct RenditionEntry: Decodable, FetchableRecord {
    let id: Int64
    /// The directory of the rendition inside the package.
    let folder: String
    let role: StoredRendition.Role
    /// The zero-based index among the variants or renditions of the source; -1 if the source is a media playlist.
    let position: Int
    /// The further positions in the source that have the same playlist, as decimal numbers separated by commas.
    private let aliases: String?

    /// The positions of all variants or renditions in the source that have this playlist.
    var positions: [Int] { RenditionRecord.positions(position, aliases) }

    /// Returns the entries of an asset, in the order in which they were added.
    static func fetchAll(of assetID: String, _ database: Database) throws -> [RenditionEntry] {
        try fetchAll(
            database,
            sql: "SELECT id, folder, role, position, aliases FROM rendition WHERE assetID = ? ORDER BY id",
            arguments: [assetID]
        )
    }
}
