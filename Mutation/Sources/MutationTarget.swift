/// A target whose tests are tried, with the test targets that reach it.
struct MutationTarget {
    let name: String
    /// The test targets that run against its faults, those that find most of them first.
    let tests: [String]

    /// Every target that `Scripts/mutate` accepts.
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
