import CFFmpeg
import SegmentFormat

extension PixelBuffer {
    /// Returns the picture in the orientation in which it is shown.
    ///
    /// The pixels are moved and not changed, so that their checksum equals that of `ffmpeg -f framemd5`. Only where the color
    /// of a format has another resolution across than down and the axes are exchanged, as in 4:2:2, the picture is
    /// converted to 4:4:4 first.
    ///
    /// - Parameter orientation: The orientation of the track.
    /// - Returns: The picture itself if it is upright, otherwise a copy; `nil` if there is no memory, or if the pixel
    ///   format is not supported.
    func oriented(_ orientation: VideoOrientation) -> PixelBuffer? {
        guard orientation != .upright else { return self }
        return moved(orientation) ?? (try? converted(to: .yuv444p))?.moved(orientation)
    }

    private func moved(_ orientation: VideoOrientation) -> PixelBuffer? {
        let copy = unsafe cffmpeg_orient_frame(
            frame,
            orientation.isTransposed ? 1 : 0,
            orientation.isMirroredHorizontally ? 1 : 0,
            orientation.isMirroredVertically ? 1 : 0
        )
        guard let copy = unsafe copy else { return nil }
        // A frame that declares no matrix has that of its height, which is another one after a rotation.
        if unsafe copy.pointee.colorspace == AVCOL_SPC_UNSPECIFIED {
            unsafe copy.pointee.colorspace = colorMatrix == .bt601 ? AVCOL_SPC_SMPTE170M : AVCOL_SPC_BT709
        }
        return unsafe PixelBuffer(owning: copy)
    }
}
