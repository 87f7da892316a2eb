#if Playback
public import MediaDecoding
import MediaTiming

extension Player.Environment {
    /// The machine's clock, its network and its files, with media decoded by FFmpeg for outputs.
    ///
    /// An output of pictures that is a `VideoOutputStack` may get windows, views and closures later on, of which the
    /// newest shows.
    ///
    /// - Parameters:
    ///   - outputs: Where pictures, sound and text go; those of one player.
    ///   - options: How pictures are decoded.
    /// - Returns: An environment for the items of one player.
    public static func decoding(
        for outputs: SharedOutputs,
        _ options: VideoDecodingOptions = VideoDecodingOptions()
    ) -> Player.Environment {
        var environment = Player.Environment.standard
        let time = environment.time
        environment.makePipeline = { try outputs.makePipeline(time: time, decoding: options) }
        environment.canDecode = { DecodingPipeline.canDecode($0) }
        return environment
    }
}
#endif
