#if Playback
import MediaDecoding

extension Player.Environment {
    /// The outputs for which items are decoded.
    enum Outputs: Sendable {
        /// None: items are not decoded.
        case none
        /// Outputs that each player creates for itself.
        case ofEachPlayer
        /// The given outputs, which one player uses.
        case shared(PlayerOutputs)
    }

    /// Returns an environment with the system clock, the network and file access, in which media is decoded for the
    /// given outputs.
    ///
    /// ``standard`` creates outputs with an audio device for each player; use this function to write to files, or to
    /// decode without audio.
    ///
    /// - Parameter outputs: The outputs, which must be used by one player only.
    /// - Returns: An environment for the items of one player.
    public static func decoding(for outputs: PlayerOutputs) -> Player.Environment {
        var environment = withoutDecoding
        environment.outputs = .shared(outputs)
        environment.canDecode = { DecodingPipeline.canDecode($0) }
        return environment
    }
}

extension Player {
    /// The outputs of the player, to which windows, views and closures can be attached; `nil` if items are not decoded,
    /// or if the application provides the pipelines.
    public var outputs: PlayerOutputs? { pipelines.outputs }
}
#endif
