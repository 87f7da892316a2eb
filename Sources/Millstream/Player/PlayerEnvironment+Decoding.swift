#if Playback
public import MediaDecoding
import MediaTiming

extension Player.Environment {
    /// Returns an environment with the system clock, the network and file access, in which FFmpeg decodes media for
    /// outputs.
    ///
    /// If the video output is a `VideoOutputStack`, windows, views and closures can be attached to it later; the most
    /// recent one shows the video.
    ///
    /// - Parameters:
    ///   - outputs: The outputs for video, audio and subtitles; they must be used by one player only.
    ///   - options: The options for decoding video.
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
