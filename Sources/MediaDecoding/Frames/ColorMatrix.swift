import CFFmpeg

/// The matrix that converts luma and color difference values to red, green and blue (ITU-T H.273 §8.3).
public enum ColorMatrix: Sendable, Hashable {
    /// ITU-R BT.601, used for standard definition.
    case bt601
    /// ITU-R BT.709, used for high definition.
    case bt709
    /// ITU-R BT.2020, used for ultra-high definition.
    case bt2020

    /// Creates the matrix that a frame declares; without a declaration, BT.709 from a height of 720 pixels and BT.601
    /// below.
    init(_ space: AVColorSpace, height: Int) {
        switch space {
        case AVCOL_SPC_BT709: self = .bt709
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: self = .bt601
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: self = .bt2020
        default: self = height >= 720 ? .bt709 : .bt601
        }
    }

    /// The conversion coefficients of libswscale.
    var coefficients: UnsafePointer<Int32>? {
        switch self {
        case .bt601: unsafe sws_getCoefficients(SWS_CS_ITU601)
        case .bt709: unsafe sws_getCoefficients(SWS_CS_ITU709)
        case .bt2020: unsafe sws_getCoefficients(SWS_CS_BT2020)
        }
    }
}
