/// A target to mutate, with the test targets that cover it.
struct MutationTarget {
    let name: String
    /// The test targets that run against its mutants; those that kill most of them come first.
    let tests: [String]

    /// The targets that `Scripts/mutate` accepts.
    static let all = [
        MutationTarget("MediaTiming", "MediaTimingTests", "HLSPlaylistTests", "PlaylistEditingTests"),
        MutationTarget("ResourceAddressing", "ResourceAddressingTests", "HLSPlaylistTests"),
        MutationTarget("HLSPlaylist", "HLSPlaylistTests", "PlaylistEditingTests"),
        MutationTarget("PlaylistEditing", "PlaylistEditingTests"),
        MutationTarget("Adaptation", "AdaptationTests"),
        MutationTarget("NetworkConditioning", "NetworkConditioningTests"),
        MutationTarget("PlaybackReporting", "PlaybackReportingTests"),
        MutationTarget("SegmentFormat", "SegmentFormatTests"),
        MutationTarget("MediaTransport", "MediaTransportTests", "MillstreamDownloadsTests", "MillstreamServerTests"),
        MutationTarget("AssetStorage", "AssetStorageTests", "MillstreamDownloadsTests", "MillstreamTests"),
        MutationTarget("MillstreamDownloads", "MillstreamDownloadsTests", "MillstreamTests"),
        MutationTarget("MillstreamServer", "MillstreamServerTests"),
        MutationTarget("StreamingEngine", "StreamingEngineTests", "MillstreamTests"),
        MutationTarget("Millstream", "MillstreamTests"),
    ]

    private init(_ name: String, _ tests: String...) {
        self.name = name
        self.tests = tests
    }
}
