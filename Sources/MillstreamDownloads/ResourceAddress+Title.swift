import ResourceAddressing

extension ResourceAddress {
    /// The title of an asset with this URL if the application gives none: the last part of the path that is descriptive.
    var defaultAssetTitle: String {
        // The title is displayed, so it must not contain a secret; the description of a URL has none.
        let path = ResourceAddress(description).path
        let parts = path.split(separator: "/").map { PercentEncoding.decode(String($0)) ?? String($0) }
        let name = parts.last ?? host ?? description
        // A name such as "multivariant.m3u8" is not descriptive; the name of its directory is used instead.
        let isGeneric = ["multivariant", "master", "index", "playlist", "main", "prog_index"].contains {
            name.lowercased().hasPrefix($0)
        }
        return isGeneric && parts.count > 1 ? parts[parts.count - 2] : name
    }
}
